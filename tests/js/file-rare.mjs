// Methods of the File clients that need something special: a host name, retention, two clients.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  FileSASPermissions,
  ShareLeaseClient,
  ShareSASPermissions,
} from "@azure/storage-file-share";
import { ACCOUNT, all, connect, fresh, future, refused, service } from "./file-common.mjs";

// Names below `localhost` lead to this machine, also where its resolver does not know that.
const dns = createRequire(import.meta.url)("node:dns");
const { lookup } = dns;
dns.lookup = (host, options, done) =>
  lookup(host.endsWith(".localhost") ? "127.0.0.1" : host, options, done);
const { port } = new URL(process.env.ZAFFRE_FILE_URL);
const byHost = connect(`http://${ACCOUNT}.file.localhost:${port}`);

test("renames, where the account is in the host's name", async () => {
  const share = await fresh(byHost);
  const { directoryClient: from } = await share.createDirectory("from");
  await from.createFile("f", 5);
  const file = from.getFileClient("f");
  await file.uploadRange("hello", 0, 5);
  const { destinationDirectoryClient: to } = await from.rename("to", { metadata: { a: "1" } });
  assert.equal(await from.exists(), false);
  assert.deepEqual((await to.getProperties()).metadata, { a: "1" });
  const { destinationFileClient: moved } = await to.getFileClient("f").rename("to/g");
  assert.equal((await moved.downloadToBuffer()).toString(), "hello");
  await to.createFile("h", 1);
  await refused(moved.rename("to/h"), 409, "ResourceAlreadyExists");
  await moved.rename("to/h", { replaceIfExists: true });
  assert.deepEqual((await all(to.listFilesAndDirectories())).map((e) => e.name), ["h"]);
  await share.delete();
});

test("by path the client leaves the account out of the new name", async () => {
  const share = await fresh();
  const { directoryClient: top } = await share.createDirectory("top");
  await assert.rejects(top.rename("moved"));
  assert.equal(await top.exists(), true);
  await share.delete();
});

test("shares that are kept come back", async () => {
  const keep = async (policy) => {
    // The client has no words for this part of the properties.
    const body = `<StorageServiceProperties><ShareDeleteRetentionPolicy>${policy}</ShareDeleteRetentionPolicy></StorageServiceProperties>`;
    const url = service.generateAccountSasUrl(
      future(), AccountSASPermissions.parse("w"), AccountSASResourceTypes.parse("s").toString());
    const answer = await fetch(`${url}&restype=service&comp=properties`, {
      method: "PUT", body, headers: { "x-ms-version": "2024-08-04" },
    });
    assert.equal(answer.status, 202, await answer.text());
  };
  const share = await fresh();
  await share.setMetadata({ a: "1" });
  await keep("<Enabled>true</Enabled><Days>3</Days>");
  try {
    await share.delete();
    assert.equal(await share.exists(), false);
    const [gone] = await all(service.listShares({ prefix: share.name, includeDeleted: true }));
    assert.equal(gone.deleted, true);
    const back = await service.undeleteShare(share.name, gone.version);
    assert.deepEqual((await back.getProperties()).metadata, { a: "1" });
    await refused(service.undeleteShare(share.name, gone.version), 404, "ShareNotFound");
  } finally {
    await keep("<Enabled>false</Enabled>");
  }
  await share.delete();
});

test("what is signed names what it is for", async () => {
  const share = await fresh();
  const { directoryClient: top } = await share.createDirectory("top");
  const below = top.getDirectoryClient("below");
  await below.create();
  const file = below.getFileClient("f");
  await file.create(3, { metadata: { a: "1" } });
  assert.deepEqual((await file.getProperties()).metadata, { a: "1" });
  const one = { permissions: FileSASPermissions.parse("r"), expiresOn: future() };
  const whole = { permissions: ShareSASPermissions.parse("rl"), expiresOn: future() };
  assert.match(file.generateSasStringToSign(one), new RegExp(`\n/file/${ACCOUNT}/${share.name}/top/below/f\n`));
  assert.match(share.generateSasStringToSign(whole), new RegExp(`\n/file/${ACCOUNT}/${share.name}\n`));
  const kinds = AccountSASResourceTypes.parse("s").toString();
  const account = service.generateSasStringToSign(future(), AccountSASPermissions.parse("l"), kinds);
  assert.match(account, new RegExp(`^${ACCOUNT}\nl\nf\ns\n`));
  await file.delete();
  await below.delete();
  await share.delete();
});

test("the lease of a share", async () => {
  const share = await fresh();
  const lease = share.getShareLeaseClient(randomUUID());
  await lease.acquireLease(15);
  const other = new ShareLeaseClient(share);
  await refused(other.acquireLease(15), 409, "LeaseAlreadyPresent");
  await lease.breakLease({ breakPeriod: 0 });
  await other.acquireLease(-1);
  await other.releaseLease();
  await share.delete();
});
