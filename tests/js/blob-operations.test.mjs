// Block blob operations through the JavaScript client.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";
import { all, box, future, past, refused, text } from "./common.mjs";

const OTHER = '"0x8D0000000000001"';
const id = (n) => Buffer.from(`block-${String(n).padStart(6, "0")}`).toString("base64");
const md5 = (data) => createHash("md5").update(data).digest();

async function made(content = "first", options) {
  const c = await box();
  const b = c.getBlockBlobClient("b");
  await b.upload(content, content.length, options);
  return b;
}

test("upload, properties, download", async () => {
  const c = await box();
  const b = c.getBlockBlobClient("dir/a b.txt");
  const up = await b.upload("hello world", 11, {
    metadata: { k: "v" },
    blobHTTPHeaders: {
      blobContentType: "text/plain",
      blobCacheControl: "no-cache",
      blobContentLanguage: "de",
      blobContentDisposition: "attachment",
      blobContentEncoding: "identity",
    },
    tier: "Cool",
  });
  assert.equal(Buffer.from(up.contentMD5).toString("hex"), md5("hello world").toString("hex"));
  assert.equal(up.isServerEncrypted, true);
  const p = await b.getProperties();
  assert.equal(p.etag, up.etag);
  assert.equal(p.contentLength, 11);
  assert.equal(p.contentType, "text/plain");
  assert.equal(p.cacheControl, "no-cache");
  assert.equal(p.contentLanguage, "de");
  assert.equal(p.contentDisposition, "attachment");
  assert.equal(p.contentEncoding, "identity");
  assert.equal(p.blobType, "BlockBlob");
  assert.equal(p.accessTier, "Cool");
  assert.deepEqual(p.metadata, { k: "v" });
  assert.equal(p.leaseState, "available");
  assert.ok(p.createdOn instanceof Date);
  const down = await b.download();
  assert.equal(down.etag, up.etag);
  assert.equal(await text(b), "hello world");
});

test("empty blob", async () => {
  const b = await made("");
  assert.equal((await b.getProperties()).contentLength, 0);
  assert.equal((await b.download()).contentLength, 0);
});

for (const name of ["plain", "a/b/c", "sp ace", "ünï/日本", "p%25", "a+b", "q?&=#", "a//b", "~!$'()*"]) {
  test(`name ${name}`, async () => {
    const c = await box();
    await c.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
    assert.equal(await text(c.getBlobClient(name)), name);
    assert.deepEqual((await all(c.listBlobsFlat())).map((b) => b.name), [name]);
    await c.deleteBlob(name);
  });
}

test("ranges", async () => {
  const b = await made("0123456789");
  const part = await b.download(2, 3);
  assert.equal(part._response.status, 206);
  assert.equal(part.contentRange, "bytes 2-4/10");
  assert.equal(await text(b, 7), "789");
  assert.equal(await text(b, 8, 2), "89");
  await refused(b.download(10, 1), 416, "InvalidRange");
  const checked = await b.download(0, 4, { rangeGetContentMD5: true });
  assert.deepEqual(Buffer.from(checked.contentMD5), md5("0123"));
  const crc = await b.download(0, 4, { rangeGetContentCrc64: true });
  assert.equal(crc.contentCrc64.length, 8);
  await refused(
    b.download(0, 4, { rangeGetContentMD5: true, rangeGetContentCrc64: true }),
    400,
  );
});

test("transactional checksums", async () => {
  const c = await box();
  const b = c.getBlockBlobClient("b");
  const good = md5("block");
  await b.stageBlock(id(1), "block", 5, { transactionalContentMD5: good });
  await refused(
    b.stageBlock(id(2), "block", 5, { transactionalContentMD5: md5("other") }),
    400,
    "Md5Mismatch",
  );
  const crc = Buffer.from("vo7q9sPVKY0=", "base64"); // CRC-64/NVME of "hello world"
  await b.stageBlock(id(2), "hello world", 11, { transactionalContentCrc64: crc });
  await refused(
    b.stageBlock(id(3), "hello w0rld", 11, { transactionalContentCrc64: crc }),
    400,
    "Crc64Mismatch",
  );
});

test("blocks: stage, list, commit", async () => {
  const c = await box();
  const b = c.getBlockBlobClient("b");
  for (const n of [3, 1, 2]) await b.stageBlock(id(n), String(n), 1);
  let list = await b.getBlockList("all");
  assert.deepEqual(list.uncommittedBlocks.map((x) => x.name), [id(1), id(2), id(3)]);
  assert.equal(await b.exists(), false);
  const done = await b.commitBlockList([id(2), id(1)], { metadata: { m: "1" } });
  assert.equal(await text(b), "21");
  list = await b.getBlockList("all");
  assert.deepEqual(list.committedBlocks.map((x) => [x.name, x.size]), [[id(2), 1], [id(1), 1]]);
  assert.deepEqual(list.uncommittedBlocks ?? [], []);
  assert.equal((await b.getProperties()).etag, done.etag);
  await refused(b.commitBlockList([id(9)]), 400, "InvalidBlockList");
  assert.equal((await b.getProperties()).etag, done.etag);
});

test("Put Blob discards staged blocks", async () => {
  const c = await box();
  const b = c.getBlockBlobClient("b");
  await b.stageBlock(id(1), "x", 1);
  await b.upload("y", 1);
  const list = await b.getBlockList("all");
  assert.deepEqual(list.uncommittedBlocks ?? [], []);
});

test("metadata and headers", async () => {
  const b = await made("abc", { metadata: { a: "1" }, blobHTTPHeaders: { blobCacheControl: "x" } });
  const first = await b.getProperties();
  const second = await b.setMetadata({ b: "2" });
  assert.notEqual(second.etag, first.etag);
  assert.deepEqual((await b.getProperties()).metadata, { b: "2" });
  const third = await b.setHTTPHeaders({ blobContentType: "text/html" });
  assert.notEqual(third.etag, second.etag);
  const p = await b.getProperties();
  assert.equal(p.contentType, "text/html");
  assert.equal(p.cacheControl, undefined);
  assert.deepEqual(p.metadata, { b: "2" });
});

test("delete", async () => {
  const b = await made();
  await b.delete();
  assert.equal(await b.exists(), false);
  await refused(b.delete(), 404, "BlobNotFound");
  assert.equal((await b.deleteIfExists()).succeeded, false);
});

test("flat and hierarchical lists", async () => {
  const c = await box();
  const names = ["B", "a", "d/1", "d/2", "d/s/3", "z"];
  for (const n of [...names].reverse()) await c.getBlockBlobClient(n).upload("x", 1, { metadata: { n: "1" } });
  assert.deepEqual((await all(c.listBlobsFlat())).map((b) => b.name), names);
  const withMeta = await all(c.listBlobsFlat({ includeMetadata: true, prefix: "d/" }));
  assert.deepEqual(withMeta.map((b) => [b.name, b.metadata.n]), [["d/1", "1"], ["d/2", "1"], ["d/s/3", "1"]]);
  const pages = await all(c.listBlobsFlat().byPage({ maxPageSize: 4 }));
  assert.deepEqual(pages.map((p) => p.segment.blobItems.length), [4, 2]);
  const tree = await all(c.listBlobsByHierarchy("/"));
  assert.deepEqual(tree.map((i) => `${i.kind}:${i.name}`).sort(), ["blob:B", "blob:a", "blob:z", "prefix:d/"]);
  const below = await all(c.listBlobsByHierarchy("/", { prefix: "d/" }));
  assert.deepEqual(below.map((i) => `${i.kind}:${i.name}`).sort(), ["blob:d/1", "blob:d/2", "prefix:d/s/"]);
  await c.getBlockBlobClient("staged").stageBlock(id(1), "x", 1);
  const uncommitted = await all(c.listBlobsFlat({ includeUncommitedBlobs: true }));
  assert.deepEqual(uncommitted.map((b) => b.name), ["B", "a", "d/1", "d/2", "d/s/3", "staged", "z"]);
});

const WRITES = {
  upload: (b, o) => b.upload("2", 1, o),
  metadata: (b, o) => b.setMetadata({ v: "2" }, o),
  headers: (b, o) => b.setHTTPHeaders({}, o),
  commit: (b, o) => b.commitBlockList([], o),
  delete: (b, o) => b.delete(o),
};
for (const [name, write] of Object.entries(WRITES)) {
  test(`conditions on ${name}`, async () => {
    const b = await made();
    const { etag } = await b.getProperties();
    for (const conditions of [
      { ifMatch: OTHER },
      { ifNoneMatch: etag },
      { ifModifiedSince: future() },
      { ifUnmodifiedSince: past() },
    ]) {
      await refused(write(b, { conditions }), 412, "ConditionNotMet");
    }
    assert.equal((await b.getProperties()).etag, etag);
    await write(b, { conditions: { ifMatch: etag } });
  });
}

test("conditions on reads", async () => {
  const b = await made();
  const { etag } = await b.getProperties();
  for (const read of [(o) => b.getProperties(o), (o) => b.download(0, undefined, o)]) {
    await read({ conditions: { ifMatch: etag } });
    await read({ conditions: { ifNoneMatch: OTHER } });
    await refused(read({ conditions: { ifMatch: OTHER } }), 412, "ConditionNotMet");
    await refused(read({ conditions: { ifNoneMatch: etag } }), 304, "ConditionNotMet");
    await refused(read({ conditions: { ifModifiedSince: future() } }), 304, "ConditionNotMet");
    await refused(read({ conditions: { ifUnmodifiedSince: past() } }), 412, "ConditionNotMet");
  }
});

test("If-None-Match: * creates once", async () => {
  const b = await made();
  await refused(b.upload("x", 1, { conditions: { ifNoneMatch: "*" } }), 409, "BlobAlreadyExists");
});

test("lease on a blob", async () => {
  const b = await made();
  const lease = b.getBlobLeaseClient();
  await lease.acquireLease(-1);
  await refused(b.upload("x", 1), 412, "LeaseIdMissing");
  await refused(
    b.upload("x", 1, { conditions: { leaseId: "99999999-2222-3333-4444-555555555555" } }),
    412,
    "LeaseIdMismatchWithBlobOperation",
  );
  await b.upload("x", 1, { conditions: { leaseId: lease.leaseId } });
  assert.equal(await text(b), "x");
  const p = await b.getProperties();
  assert.deepEqual([p.leaseState, p.leaseDuration], ["leased", "infinite"]);
  const broken = await lease.breakLease(5);
  assert.equal(broken.leaseTime, 5);
  assert.equal((await b.getProperties()).leaseState, "breaking");
  await lease.breakLease(0);
  await refused(lease.renewLease(), 409, "LeaseIsBrokenAndCannotBeRenewed");
  await refused(b.setMetadata({}, { conditions: { leaseId: lease.leaseId } }), 412, "LeaseLost");
  await lease.releaseLease();
  assert.equal((await b.getProperties()).leaseState, "available");
});

test("stream of unknown length", async () => {
  const c = await box();
  const data = randomBytes(3 * 1024 * 1024 + 7);
  const b = c.getBlockBlobClient("s");
  await b.uploadStream(Readable.from([data.subarray(0, 100), data.subarray(100)]), 1024 * 1024, 2);
  assert.deepEqual(await b.downloadToBuffer(), data);
});

test("tier as stored", async () => {
  const b = await made("x", { tier: "Cold" });
  assert.equal((await b.getProperties()).accessTier, "Cold");
});
