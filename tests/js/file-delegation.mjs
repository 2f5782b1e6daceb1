// The client of files with a token: a user delegation key and what it signs. Prints the methods of the
// client that only a token can drive; the suite `file` runs this and reads them.

import assert from "node:assert/strict";
import { AnonymousCredential, FileSASPermissions, ShareClient, ShareFileClient, ShareSASPermissions, ShareServiceClient } from "@azure/storage-file-share";
import { METHODS, NO_RETRY, all, fresh, future, neverReturned } from "./file-common.mjs";

const token = { token: process.env.ZAFFRE_TOKEN, expiresOnTimestamp: Date.now() + 3_600_000 };
const service = new ShareServiceClient(
  process.env.ZAFFRE_ENDPOINT, { getToken: async () => token }, { ...NO_RETRY, fileRequestIntent: "backup" });
const share = await fresh(service);
await share.getDirectoryClient("").createFile("f", 6);
const file = share.getDirectoryClient("").getFileClient("f");
await file.uploadRange("secret", 0, 6);

const key = await service.getUserDelegationKey(new Date(Date.now() - 300_000), future());
const anonymous = (url, kind) => new kind(url, new AnonymousCredential(), NO_RETRY);
const one = { permissions: FileSASPermissions.parse("r"), expiresOn: future() };
const reader = anonymous(file.generateUserDelegationSasUrl(one, key), ShareFileClient);
assert.equal((await reader.downloadToBuffer()).toString(), "secret");
await assert.rejects(reader.delete(), { statusCode: 403 });
const whole = { permissions: ShareSASPermissions.parse("rl"), expiresOn: future() };
const inside = anonymous(share.generateUserDelegationSasUrl(whole, key), ShareClient);
const listed = await all(inside.getDirectoryClient("").listFilesAndDirectories());
assert.deepEqual(listed.map((entry) => entry.name), ["f"]);
// What is signed names what it is for.
assert.match(file.generateUserDelegationStringToSign(one, key), new RegExp(`/${share.name}/f\n`));
assert.match(share.generateUserDelegationStringToSign(whole, key), new RegExp(`/${share.name}\n`));
await share.delete();

const missing = new Set(neverReturned());
console.log(METHODS.filter((name) => /UserDelegation/.test(name) && !missing.has(name)).join(" "));
