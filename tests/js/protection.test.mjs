// Tiers, immutability and scopes through the JavaScript client.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { all, box, future, refused, service, text } from "./common.mjs";

async function made(options) {
  const c = await box();
  const b = c.getBlockBlobClient("b");
  await b.upload("kept", 4, options);
  return { c, b };
}

test("tiers", async () => {
  const { c, b } = await made({ tier: "Cool" });
  const first = await b.getProperties();
  assert.equal(first.accessTier, "Cool");
  await b.setAccessTier("Archive");
  await refused(b.download(), 409, "BlobArchived");
  assert.equal((await b.setAccessTier("Hot", { rehydratePriority: "High" }))._response.status, 202);
  while ((await b.getProperties()).accessTier === "Archive") {
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.equal(await text(b), "kept");
  assert.equal((await b.getProperties()).etag, first.etag);
  const [listed] = await all(c.listBlobsFlat());
  assert.equal(listed.properties.accessTier, "Hot");
});

test("a batch of tiers", async () => {
  const { c, b } = await made();
  const other = c.getBlockBlobClient("c");
  await other.upload("x", 1);
  const answer = await service.getBlobBatchClient().setBlobsAccessTier([b, other], "Cool");
  assert.equal(answer.subResponsesSucceededCount, 2);
  assert.equal((await other.getProperties()).accessTier, "Cool");
});

test("policies and holds", async () => {
  const { b } = await made();
  await b.setLegalHold(true);
  await refused(b.delete(), 409, "BlobImmutableDueToLegalHold");
  await b.setLegalHold(false);
  await b.setImmutabilityPolicy({ expiriesOn: future(), policyMode: "Unlocked" });
  await refused(b.delete(), 409, "BlobImmutableDueToPolicy");
  const shown = await b.getProperties();
  assert.equal(shown.immutabilityPolicyMode, "unlocked");
  assert.equal(shown.legalHold, false);
  await b.deleteImmutabilityPolicy();
  await b.delete();
});

test("versions", async () => {
  const { b } = await made();
  const { versionId } = await b.getProperties();
  await b.upload("new", 3);
  assert.equal(await text(b.withVersion(versionId)), "kept");
});

test("scopes", async () => {
  const c = service.getContainerClient(`js-${randomUUID()}`);
  await c.create({ containerEncryptionScope: { defaultEncryptionScope: "red" } });
  const b = c.getBlockBlobClient("b");
  await b.upload("x", 1);
  assert.equal((await b.getProperties()).encryptionScope, "red");
  await b.upload("x", 1, { encryptionScope: "blue" });
  assert.equal((await b.getProperties()).encryptionScope, "blue");
  await refused(b.upload("x", 1, { encryptionScope: "green" }), 409, "EncryptionScopeNotAvailable");
});

test("a deleted container comes back", async () => {
  const empty = await box();
  await empty.delete();
  const kept = await all(service.listContainers({ includeDeleted: true }));
  const { version } = kept.find((item) => item.name === empty.containerName);
  const { containerClient } = await service.undeleteContainer(empty.containerName, version);
  assert.equal(await containerClient.exists(), true);
});
