// @azure/storage-file-share through every public method.

import "./file-rare.mjs";
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AnonymousCredential,
  FileSASPermissions,
  ShareClient,
  ShareFileClient,
  ShareLeaseClient,
  ShareSASPermissions,
  ShareServiceClient,
} from "@azure/storage-file-share";
import {
  METHODS, NO_RETRY, SDDL, all, fresh, future, neverCalled, neverReturned, refused, service,
} from "./file-common.mjs";

test("shares", async () => {
  const name = `js-${randomUUID()}`;
  const { shareClient: share } = await service.createShare(name, { metadata: { a: "1" }, quota: 3 });
  assert.equal(await share.exists(), true);
  assert.equal((await share.createIfNotExists()).succeeded, false);
  await refused(share.create(), 409, "ShareAlreadyExists");
  const found = await share.getProperties();
  assert.deepEqual([found.quota, found.metadata, found.accessTier], [3, { a: "1" }, "TransactionOptimized"]);
  await share.setQuota(4);
  await share.setProperties({ accessTier: "Cool" });
  await share.setMetadata({ b: "2" });
  const after = await share.getProperties();
  assert.deepEqual([after.quota, after.metadata, after.accessTier], [4, { b: "2" }, "Cool"]);
  await share.setAccessPolicy([{ id: "p", accessPolicy: { permissions: "r", expiresOn: future(), startsOn: new Date(0) } }]);
  assert.deepEqual((await share.getAccessPolicy()).signedIdentifiers.map((p) => p.id), ["p"]);
  assert.equal((await share.getStatistics()).shareUsageBytes, 0);
  const { filePermissionKey } = await share.createPermission(SDDL);
  assert.match((await share.getPermission(filePermissionKey)).permission, /^O:BAG:SY/);
  const { snapshot } = await share.createSnapshot({ metadata: { s: "1" } });
  assert.deepEqual((await share.withSnapshot(snapshot).getProperties()).metadata, { s: "1" });
  const listed = await all(service.listShares({ prefix: name, includeSnapshots: true, includeMetadata: true }));
  assert.deepEqual(listed.map((s) => [s.name, s.snapshot]), [[name, snapshot], [name, undefined]]);
  const lease = new ShareLeaseClient(share);
  await lease.acquireLease(15);
  await refused(share.setMetadata({}), 412, "LeaseIdMissing");
  // The client takes every share for a file here.
  await assert.rejects(lease.renewLease(), RangeError);
  await lease.changeLease(randomUUID());
  await lease.releaseLease();
  await refused(share.delete(), 409, "ShareHasSnapshots");
  await service.deleteShare(name, { deleteSnapshots: "include" });
  assert.equal((await share.deleteIfExists()).succeeded, false);
});

test("service properties and undelete", async () => {
  const before = await service.getProperties();
  const rule = { allowedOrigins: "*", allowedMethods: "GET", allowedHeaders: "", exposedHeaders: "", maxAgeInSeconds: 5 };
  await service.setProperties({ cors: [rule] });
  assert.equal((await service.getProperties()).cors[0].maxAgeInSeconds, 5);
  assert.equal(before.protocol.smb.multichannel.enabled, false);
  await service.setProperties({ cors: [] });
  await refused(service.undeleteShare(`js-${randomUUID()}`, "01D60F8BB59A4652"), 404, "ShareNotFound");
  await assert.rejects(service.getUserDelegationKey(new Date(), future()));
});

test("directories", async () => {
  const share = await fresh();
  const { directoryClient: top } = await share.createDirectory("top");
  assert.equal((await top.createIfNotExists()).succeeded, false);
  await refused(top.create(), 409, "ResourceAlreadyExists");
  await top.setMetadata({ a: "1" });
  await top.setProperties({ creationTime: new Date("2001-02-03T04:05:06Z"), filePermission: SDDL });
  const found = await top.getProperties();
  assert.deepEqual([found.metadata, found.fileAttributes], [{ a: "1" }, "Directory"]);
  assert.equal(found.fileCreatedOn.toISOString(), "2001-02-03T04:05:06.000Z");
  await top.createSubdirectory("sub");
  await top.createFile("file", 5);
  const entries = await all(top.listFilesAndDirectories({ includeExtendedInfo: true, includeTimestamps: true, includeEtag: true, includeAttributes: true, includePermissionKey: true }));
  assert.deepEqual(entries.map((e) => [e.kind, e.name]).sort(), [["directory", "sub"], ["file", "file"]]);
  await refused(top.delete(), 409, "DirectoryNotEmpty");
  assert.deepEqual(await all(top.listHandles({ recursive: true })), []);
  assert.equal((await top.forceCloseAllHandles()).closedHandlesCount, 0);
  await top.forceCloseHandle("7");
  await top.deleteFile("file");
  await top.deleteSubdirectory("sub");
  await share.deleteDirectory("top");
  assert.equal((await top.deleteIfExists()).succeeded, false);
  await share.delete();
});

test("files: content", async () => {
  const share = await fresh();
  const folder = mkdtempSync(join(tmpdir(), "zaffre-js-"));
  try {
    const file = share.getDirectoryClient("").getFileClient("f");
    const data = randomBytes(5_000_000);
    await file.uploadData(data, { rangeSize: 1024 * 1024, concurrency: 3 });
    assert.deepEqual(await file.downloadToBuffer(), data);
    writeFileSync(join(folder, "in"), data.subarray(0, 1_000_000));
    await file.uploadFile(join(folder, "in"));
    await file.downloadToFile(join(folder, "out"));
    assert.deepEqual(readFileSync(join(folder, "out")), data.subarray(0, 1_000_000));
    await file.uploadStream(Readable.from([data.subarray(0, 100_000)]), 100_000, 65536, 2);
    assert.deepEqual(await file.downloadToBuffer(), data.subarray(0, 100_000));
    await file.uploadResetableStream(
      (offset, count) => Readable.from([data.subarray(offset, offset + (count ?? 0))]), 50_000);
    const part = await file.download(10, 20);
    const chunks = [];
    for await (const chunk of part.readableStreamBody) chunks.push(chunk);
    assert.deepEqual(Buffer.concat(chunks), data.subarray(10, 30));
  } finally {
    rmSync(folder, { recursive: true });
    await share.delete();
  }
});

test("files: properties, ranges, copies, renames", async () => {
  const share = await fresh();
  const { fileClient: file } = await share.createFile("f", 4096, {
    fileHttpHeaders: { fileContentType: "text/plain" }, metadata: { a: "1" },
  });
  await file.uploadRange("hello", 100, 5);
  await file.clearRange(0, 50);
  assert.deepEqual((await file.getRangeList()).rangeList, [{ start: 0, end: 511 }]);
  const { snapshot } = await share.createSnapshot();
  await file.uploadRange("world", 1024, 5);
  const diff = await file.getRangeListDiff(snapshot);
  assert.deepEqual(diff.ranges, [{ start: 1024, end: 1535 }]);
  assert.equal(await file.withShareSnapshot(snapshot).exists(), true);
  await file.resize(2048);
  await file.setHttpHeaders({ fileContentType: "text/x" });
  await file.setMetadata({ b: "2" });
  await file.setProperties({ fileAttributes: undefined });
  const found = await file.getProperties();
  assert.deepEqual([found.contentLength, found.contentType, found.metadata], [2048, "text/x", { b: "2" }]);
  const copy = share.getDirectoryClient("").getFileClient("copy");
  const copied = await copy.startCopyFromURL(file.url);
  assert.equal(copied.copyStatus, "success");
  await refused(copy.abortCopyFromURL(copied.copyId), 409, "NoPendingCopyOperation");
  const url = await file.generateSasUrl({ permissions: FileSASPermissions.parse("r"), expiresOn: future() });
  await copy.uploadRangeFromURL(url, 100, 0, 5);
  assert.equal((await copy.downloadToBuffer(0, 5)).toString(), "hello");
  const lease = copy.getShareLeaseClient();
  await lease.acquireLease();
  await refused(copy.delete(), 412, "LeaseIdMissing");
  await lease.changeLease(randomUUID());
  await lease.breakLease();
  assert.deepEqual(await all(copy.listHandles()), []);
  await copy.forceCloseAllHandles();
  await copy.forceCloseHandle("7");
  await refused(copy.createHardLink("/f"), 400);
  await refused(copy.createSymbolicLink("/f"), 400);
  await refused(copy.getSymbolicLink(), 400);
  await share.deleteFile("copy");
  assert.equal((await copy.deleteIfExists()).succeeded, false);
  await share.delete({ deleteSnapshots: "include" });
});

test("shared access signatures", async () => {
  const share = await fresh();
  const file = share.getDirectoryClient("").getFileClient("f");
  await file.uploadData(Buffer.from("secret"));
  const anonymous = (url, kind) => new kind(url, new AnonymousCredential(), NO_RETRY);
  const readable = await file.generateSasUrl({ permissions: FileSASPermissions.parse("r"), expiresOn: future() });
  assert.equal((await anonymous(readable, ShareFileClient).downloadToBuffer()).toString(), "secret");
  await refused(anonymous(readable, ShareFileClient).delete(), 403, "AuthorizationPermissionMismatch");
  const whole = await share.generateSasUrl({ permissions: ShareSASPermissions.parse("rl"), expiresOn: future() });
  const inside = anonymous(whole, ShareClient).getDirectoryClient("");
  assert.deepEqual((await all(inside.listFilesAndDirectories())).map((e) => e.name), ["f"]);
  await refused(anonymous(whole, ShareClient).getProperties(), 403, "AuthorizationFailure");
  const account = service.generateAccountSasUrl(
    future(), AccountSASPermissions.parse("rl"), AccountSASResourceTypes.parse("sco").toString());
  assert.ok((await all(anonymous(account, ShareServiceClient).listShares({ prefix: share.name }))).length === 1);
  await share.delete();
});

test("every public method was called and came back", () => {
  assert.ok(METHODS.length >= 96, "the clients lost methods, or are not looked at");
  // These need a token: file-delegation.mjs calls them, and test_bearer.py reads that they came back.
  const byToken = (name) => /UserDelegation/.test(name);
  assert.equal(METHODS.filter(byToken).length, 5);
  assert.deepEqual(neverCalled().filter((name) => !byToken(name)), []);
  assert.deepEqual(neverReturned().filter((name) => !byToken(name)), [
    // A copy is done when it is answered: there is never one to abort.
    "ShareFileClient.abortCopyFromURL",
    // Links are for shares over NFS: the service refuses them on others.
    "ShareFileClient.createHardLink",
    "ShareFileClient.createSymbolicLink",
    "ShareFileClient.getSymbolicLink",
    // The client takes every share for a file here, and refuses by itself.
    "ShareLeaseClient.renewLease",
  ]);
});
