// Snapshots and soft delete through the JavaScript client.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { all, box, refused, service, text } from "./common.mjs";

before(() => keep({ enabled: true, days: 7 }));
after(() => keep({ enabled: false }));

async function keep(deleteRetentionPolicy) {
  await service.setProperties({ deleteRetentionPolicy });
}

async function made(content = "one") {
  const c = await box();
  const b = c.getBlockBlobClient("b");
  await b.upload(content, content.length);
  return { c, b };
}

test("a snapshot stays as it is", async () => {
  const { b } = await made();
  const taken = await b.createSnapshot();
  const named = await b.createSnapshot({ metadata: { k: "v" } });
  await b.upload("two", 3);
  const old = b.withSnapshot(taken.snapshot);
  assert.equal(await text(old), "one");
  assert.equal((await old.getProperties()).etag, taken.etag);
  assert.deepEqual((await b.withSnapshot(named.snapshot).getProperties()).metadata, { k: "v" });
  assert.equal(await text(b), "two");
});

test("snapshots in listings", async () => {
  const { c, b } = await made();
  const { snapshot } = await b.createSnapshot();
  const found = await all(c.listBlobsFlat({ includeSnapshots: true }));
  assert.deepEqual(found.map((item) => item.snapshot), [snapshot, undefined]);
});

test("deleting a blob with its snapshots", async () => {
  const { c, b } = await made();
  await b.createSnapshot();
  await refused(b.delete(), 409, "SnapshotsPresent");
  await b.delete({ deleteSnapshots: "only" });
  assert.equal((await all(c.listBlobsFlat({ includeSnapshots: true }))).length, 1);
  await b.createSnapshot();
  await b.delete({ deleteSnapshots: "include" });
  assert.equal((await all(c.listBlobsFlat({ includeSnapshots: true }))).length, 0);
});

test("what is deleted comes back", async () => {
  const { c, b } = await made();
  const { snapshot } = await b.createSnapshot();
  await b.delete({ deleteSnapshots: "include" });
  await refused(b.getProperties(), 404, "BlobNotFound");
  const kept = await all(c.listBlobsFlat({ includeDeleted: true, includeSnapshots: true }));
  assert.deepEqual(kept.map((item) => item.deleted), [true, true]);
  assert.deepEqual(kept.map((item) => item.properties.remainingRetentionDays), [6, 6]);
  await b.undelete();
  assert.equal(await text(b), "one");
  assert.equal(await text(b.withSnapshot(snapshot)), "one");
});

test("nothing to bring back", async () => {
  const c = await box();
  await refused(c.getBlobClient("none").undelete(), 404, "BlobNotFound");
});
