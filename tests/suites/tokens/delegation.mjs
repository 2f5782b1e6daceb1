// The JavaScript client with a token: a user delegation key, and a SAS of every layout it signs.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  AnonymousCredential,
  BlobSASPermissions,
  BlobServiceClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";

const url = process.env.ZAFFRE_URL;
const account = url.split("/").at(-1);
const credential = {
  getToken: async () => ({
    token: process.env.ZAFFRE_TOKEN,
    expiresOnTimestamp: Date.now() + 3_600_000,
  }),
};
const options = { retryOptions: { maxTries: 1 } };
const service = new BlobServiceClient(url, credential, options);
const minutes = (count) => new Date(Date.now() + count * 60_000);

const box = service.getContainerClient(`js-${randomUUID()}`);
await box.create();
await box.getBlockBlobClient("b").upload("secret", 6);
const key = await service.getUserDelegationKey(minutes(-5), minutes(60));

for (const version of ["2018-11-09", "2020-02-10", "2020-12-06", "2025-07-05", "2026-04-06"]) {
  const token = generateBlobSASQueryParameters(
    {
      containerName: box.containerName,
      blobName: "b",
      expiresOn: minutes(30),
      permissions: BlobSASPermissions.parse("r"),
      contentType: "text/odd",
      version,
    },
    key,
    account,
  );
  const reader = new BlobServiceClient(`${url}?${token}`, new AnonymousCredential(), options);
  const blob = reader.getContainerClient(box.containerName).getBlockBlobClient("b");
  assert.equal((await blob.downloadToBuffer()).toString(), "secret");
  assert.equal((await blob.getProperties()).contentType, "text/odd");
  await assert.rejects(blob.delete(), { statusCode: 403 });
  console.log(version);
}
