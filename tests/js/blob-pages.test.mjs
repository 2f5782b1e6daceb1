// Append and page blobs through the JavaScript client: every method that does not copy; those are in
// blob-copy.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { box, refused } from "./common.mjs";

const MIB = 1024 * 1024;

test("append: create, append, seal", async () => {
  const b = (await box()).getAppendBlobClient("log");
  await b.createIfNotExists({ metadata: { k: "v" } });
  assert.equal((await b.createIfNotExists()).succeeded, false);
  const first = await b.appendBlock("hello ", 6);
  assert.equal(first.blobAppendOffset, "0");
  assert.equal(first.blobCommittedBlockCount, 1);
  const second = await b.appendBlock("world", 5, { conditions: { appendPosition: 6, maxSize: 11 } });
  assert.equal(second.blobAppendOffset, "6");
  await refused(b.appendBlock("x", 1, { conditions: { appendPosition: 6 } }), 412, "AppendPositionConditionNotMet");
  await refused(b.appendBlock("x", 1, { conditions: { maxSize: 11 } }), 412, "MaxBlobSizeConditionNotMet");
  assert.equal((await b.downloadToBuffer()).toString(), "hello world");
  const p = await b.getProperties();
  assert.equal(p.blobType, "AppendBlob");
  assert.equal(p.blobCommittedBlockCount, 2);
  assert.deepEqual(p.metadata, { k: "v" });
  const sealed = await b.seal({ conditions: { appendPosition: 11 } });
  assert.equal(sealed.isSealed, true);
  assert.equal((await b.getProperties()).isSealed, true);
  await refused(b.appendBlock("x", 1), 409, "BlobIsSealed");
  await refused(b.getBlockBlobClient().upload("x", 1), 409, "InvalidBlobType");
  await b.create();
  assert.equal((await b.getProperties()).contentLength, 0);
});

test("append: large blocks, many at once", async () => {
  const b = (await box()).getAppendBlobClient("log");
  await b.create();
  const offsets = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const data = Buffer.alloc(100_000 + n, n);
      const done = await b.appendBlock(data, data.length);
      return [Number(done.blobAppendOffset), data];
    }),
  );
  offsets.sort(([a], [c]) => a - c);
  assert.ok((await b.downloadToBuffer()).equals(Buffer.concat(offsets.map(([, data]) => data))));
});

test("pages: create, upload, clear, ranges", async () => {
  const b = (await box()).getPageBlobClient("disk");
  await b.createIfNotExists(2 * MIB, { blobSequenceNumber: 5 });
  assert.equal((await b.createIfNotExists(512)).succeeded, false);
  const image = Buffer.alloc(2 * MIB);
  for (const [offset, size] of [[0, 512], [MIB - 512, 1024], [MIB + 65536, 300 * 1024]]) {
    const data = Buffer.alloc(size, 1 + (offset % 250));
    data.copy(image, offset);
    const done = await b.uploadPages(data, offset, size);
    assert.equal(done.blobSequenceNumber, 5);
  }
  assert.ok((await b.downloadToBuffer()).equals(image));
  const ranges = await b.getPageRanges();
  assert.deepEqual(ranges.pageRange, [
    { offset: 0, count: 511 },
    { offset: MIB - 512, count: 1023 },
    { offset: MIB + 65536, count: 300 * 1024 - 1 },
  ]);
  const found = [];
  for await (const range of b.listPageRanges(0, 2 * MIB, { maxPageSize: 1 })) found.push(range.start);
  assert.deepEqual(found, [0, MIB - 512, MIB + 65536]);
  await b.clearPages(0, MIB);
  image.fill(0, 0, MIB);
  assert.ok((await b.downloadToBuffer()).equals(image));
  await refused(b.uploadPages(Buffer.alloc(512), 2 * MIB, 512), 416, "InvalidPageRange");
  await refused(b.uploadPages(Buffer.alloc(100), 0, 100), 400, "InvalidHeaderValue");
});

test("pages: resize and sequence numbers", async () => {
  const b = (await box()).getPageBlobClient("disk");
  await b.create(1024);
  await b.resize(4096);
  assert.equal((await b.getProperties()).contentLength, 4096);
  await b.updateSequenceNumber("update", 7);
  await b.updateSequenceNumber("increment");
  const done = await b.updateSequenceNumber("max", 3);
  assert.equal(done.blobSequenceNumber, 8);
  const page = Buffer.alloc(512, 1);
  await b.uploadPages(page, 0, 512, { conditions: { ifSequenceNumberEqualTo: 8 } });
  for (const conditions of [
    { ifSequenceNumberEqualTo: 7 },
    { ifSequenceNumberLessThan: 8 },
    { ifSequenceNumberLessThanOrEqualTo: 7 },
  ]) {
    await refused(b.uploadPages(page, 0, 512, { conditions }), 412, "SequenceNumberConditionNotMet");
  }
});

test("pages: snapshots and differences", async () => {
  const b = (await box()).getPageBlobClient("disk");
  await b.create(MIB);
  await b.uploadPages(Buffer.alloc(2048, 1), 0, 2048);
  const { snapshot } = await b.createSnapshot();
  await b.uploadPages(Buffer.alloc(512, 2), 512, 512);
  await b.clearPages(1024, 512);
  await b.uploadPages(Buffer.alloc(512, 3), 4096, 512);
  const diff = await b.getPageRangesDiff(0, MIB, snapshot);
  assert.deepEqual(diff.pageRange, [{ offset: 512, count: 511 }, { offset: 4096, count: 511 }]);
  assert.deepEqual(diff.clearRange, [{ offset: 1024, count: 511 }]);
  const listed = [];
  for await (const r of b.listPageRangesDiff(0, MIB, snapshot, { maxPageSize: 1 })) listed.push([r.start, r.isClear]);
  assert.deepEqual(listed, [[512, false], [1024, true], [4096, false]]);
  const old = await b.withSnapshot(snapshot).downloadToBuffer();
  assert.ok(old.subarray(0, 2048).every((byte) => byte === 1));
  assert.ok(old.subarray(2048).every((byte) => byte === 0));
});
