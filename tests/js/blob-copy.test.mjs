// Copies through the JavaScript client: every method that copies.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobSASPermissions } from "@azure/storage-blob";
import { all, box, future, refused } from "./common.mjs";

const DATA = Buffer.alloc(70_000, "0123456789abcdef");

const signed = (blob, permissions = "r") =>
  blob.generateSasUrl({ permissions: BlobSASPermissions.parse(permissions), expiresOn: future() });

async function source(container, options) {
  const blob = container.getBlockBlobClient("source");
  await blob.uploadData(DATA, options);
  return blob;
}

test("copy: beginCopyFromURL to its end", async () => {
  const container = await box();
  const from = await source(container, { metadata: { color: "blue" } });
  const made = container.getBlobClient("made");
  const poller = await made.beginCopyFromURL(from.url, { intervalInMs: 10 });
  const result = await poller.pollUntilDone();
  assert.equal(result.copyStatus, "success");
  assert.equal((await made.downloadToBuffer()).equals(DATA), true);
  const properties = await made.getProperties();
  assert.equal(properties.copyId, result.copyId);
  assert.equal(properties.copyStatus, "success");
  assert.equal(properties.copyProgress, `${DATA.length}/${DATA.length}`);
  assert.equal(properties.copySource, from.url);
  assert.deepEqual(properties.metadata, { color: "blue" });
  await refused(made.abortCopyFromURL(result.copyId), 409, "NoPendingCopyOperation");
  const [listed] = await all(container.listBlobsFlat({ prefix: "made", includeCopy: true }));
  assert.equal(listed.properties.copyId, result.copyId);
});

test("copy: conditions and options", async () => {
  const container = await box();
  const from = await source(container);
  const made = container.getBlobClient("made");
  const wrong = { sourceConditions: { ifMatch: '"0x8D4BCC2E4835CD0"' } };
  await refused(made.beginCopyFromURL(from.url, wrong), 412, "SourceConditionNotMet");
  await (await made.beginCopyFromURL(from.url, { tags: { a: "1" }, tier: "Cool" })).pollUntilDone();
  assert.deepEqual((await made.getTags()).tags, { a: "1" });
  assert.equal((await made.getProperties()).accessTier, "Cool");
  const exists = { conditions: { ifNoneMatch: "*" } };
  await refused(made.beginCopyFromURL(from.url, exists), 409, "BlobAlreadyExists");
});

test("copy: syncCopyFromURL and syncUploadFromURL", async () => {
  const container = await box();
  const from = await source(container, { tags: { t: "1" } });
  const made = container.getBlockBlobClient("made");
  const done = await made.syncCopyFromURL(await signed(from, "rt"), { copySourceTags: "COPY" });
  assert.equal(done.copyStatus, "success");
  assert.deepEqual((await made.getTags()).tags, { t: "1" });
  await refused(made.syncCopyFromURL(from.url), 401, "CannotVerifyCopySource");
  await made.syncUploadFromURL(await signed(from), { metadata: { m: "1" } });
  assert.equal((await made.downloadToBuffer()).equals(DATA), true);
});

test("copy: blocks, appends and pages from a URL", async () => {
  const container = await box();
  const from = await signed(await source(container));
  const blocks = container.getBlockBlobClient("blocks");
  await blocks.stageBlockFromURL("AAAA", from, 0, 1000);
  await blocks.commitBlockList(["AAAA"]);
  assert.equal((await blocks.downloadToBuffer()).equals(DATA.subarray(0, 1000)), true);
  const log = container.getAppendBlobClient("log");
  await log.create();
  await log.appendBlockFromURL(from, 0, 100);
  assert.equal((await log.downloadToBuffer()).equals(DATA.subarray(0, 100)), true);
  const disk = container.getPageBlobClient("disk");
  await disk.create(2048);
  await disk.uploadPagesFromURL(from, 512, 1024, 512);
  assert.equal((await disk.downloadToBuffer(1024, 512)).equals(DATA.subarray(512, 1024)), true);
});

test("copy: startCopyIncremental", async () => {
  const container = await box();
  const disk = container.getPageBlobClient("disk");
  await disk.create(1024);
  await disk.uploadPages(DATA.subarray(0, 512), 0, 512);
  const { snapshot } = await disk.createSnapshot();
  const follower = container.getPageBlobClient("follower");
  const started = await follower.startCopyIncremental(disk.withSnapshot(snapshot).url);
  assert.equal(started.copyStatus, "pending");
  let properties = await follower.getProperties();
  while (properties.copyStatus === "pending") {
    properties = await follower.getProperties();
  }
  assert.equal(properties.isIncrementalCopy, true);
  const made = follower.withSnapshot(properties.destinationSnapshot);
  assert.equal((await made.downloadToBuffer(0, 512)).equals(DATA.subarray(0, 512)), true);
  await refused(follower.download(), 409, "OperationNotAllowedOnIncrementalCopyBlob");
});
