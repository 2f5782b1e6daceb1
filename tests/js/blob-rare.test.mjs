// Methods of the JavaScript client that no other test calls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobSASPermissions, ContainerSASPermissions } from "@azure/storage-blob";
import { box, credential, future, refused, service } from "./common.mjs";

test("rare: containers of the service", async () => {
  const { containerClient } = await service.createContainer(`rare-${Date.now()}`);
  await containerClient.uploadBlockBlob("b", "text", 4);
  assert.equal((await containerClient.getBlobClient("b").downloadToBuffer()).toString(), "text");
  await service.deleteContainer(containerClient.containerName);
  await refused(containerClient.getProperties(), 404, "ContainerNotFound");
  const kept = service.undeleteContainer(containerClient.containerName, "01D60F8BB59A4652");
  await refused(kept, 404, "ContainerNotFound");
});

test("rare: tiers, one by one and in batches", async () => {
  const container = await box();
  const blobs = [0, 1].map((n) => container.getBlockBlobClient(`b${n}`));
  for (const blob of blobs) await blob.upload("x", 1);
  await blobs[0].setAccessTier("Cool");
  assert.equal((await blobs[0].getProperties()).accessTier, "Cool");
  const batches = service.getBlobBatchClient();
  const urls = blobs.map((blob) => blob.url);
  const set = await batches.setBlobsAccessTier(urls, credential, "Cold");
  assert.equal(set.subResponsesSucceededCount, 2);
  assert.equal((await blobs[1].getProperties()).accessTier, "Cold");
  const batch = batches.createBatch();
  for (const url of urls) await batch.deleteBlob(url, credential);
  const done = await batches.submitBatch(batch);
  assert.equal(done.subResponsesSucceededCount, 2);
});

test("rare: policies and holds need an account that offers them", async () => {
  const blob = (await box()).getBlockBlobClient("b");
  await blob.upload("x", 1);
  const until = { expiriesOn: future(), policyMode: "Unlocked" };
  await refused(blob.setImmutabilityPolicy(until), 409);
  await refused(blob.setLegalHold(true), 409);
  await blob.deleteImmutabilityPolicy();
  assert.equal((await blob.downloadToBuffer()).toString(), "x");
});

test("rare: versions and the differences of managed disks", async () => {
  const container = await box();
  const blob = container.getBlobClient("b");
  await refused(blob.withVersion("2020-01-01T00:00:00.0000000Z").getProperties(), 404);
  const disk = container.getPageBlobClient("disk");
  await disk.create(1024);
  const { snapshot } = await disk.createSnapshot();
  await disk.uploadPages(Buffer.alloc(512, 1), 512, 512);
  const url = disk.withSnapshot(snapshot).url;
  const { pageRange } = await disk.getPageRangesDiffForManagedDisks(0, 1024, url);
  assert.deepEqual(pageRange.map((range) => range.offset), [512]);
});

test("rare: what the client signs with a user delegation key", async () => {
  const container = await box();
  const key = {
    signedObjectId: "o",
    signedTenantId: "t",
    signedStartsOn: new Date(),
    signedExpiresOn: future(),
    signedService: "b",
    signedVersion: "2024-08-04",
    value: Buffer.alloc(32).toString("base64"),
  };
  for (const [client, permissions] of [
    [container, ContainerSASPermissions.parse("r")],
    [container.getBlobClient("b"), BlobSASPermissions.parse("r")],
  ]) {
    const options = { permissions, expiresOn: future() };
    const url = await client.generateUserDelegationSasUrl(options, key);
    assert.ok(new URL(url).searchParams.get("skoid") === "o");
    assert.ok(client.generateUserDelegationSasStringToSign(options, key).includes("b"));
    // Nobody issued that key.
    const answer = await fetch(url);
    assert.equal(answer.status, 403);
  }
});
