// What the JavaScript suites share: the client, fresh containers, and exact refusals.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  AnonymousCredential,
  BlobServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";

export const ACCOUNT = "devstoreaccount1";
export const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
export const ENDPOINT = `${process.env.ZAFFRE_URL}/${ACCOUNT}`;
export const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
export const NO_RETRY = { retryOptions: { maxTries: 1 } };

export const service = BlobServiceClient.fromConnectionString(
  `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${ENDPOINT};`,
  NO_RETRY,
);

export function anonymous() {
  return new BlobServiceClient(ENDPOINT, new AnonymousCredential(), NO_RETRY);
}

export function withSas(token) {
  return new BlobServiceClient(`${ENDPOINT}?${token}`, new AnonymousCredential(), NO_RETRY);
}

export async function box(options) {
  const container = service.getContainerClient(`js-${randomUUID()}`);
  await container.create(options);
  return container;
}

// The promise is refused with exactly this status and error code.
export async function refused(promise, status, code) {
  await assert.rejects(promise, (error) => {
    const found = error.response?.headers?.get("x-ms-error-code") ?? error.code;
    assert.deepEqual([error.statusCode, found], [status, code ?? found]);
    return true;
  });
}

export async function text(blob, ...range) {
  return (await blob.downloadToBuffer(...range)).toString("utf8");
}

export async function all(iterator) {
  const out = [];
  for await (const item of iterator) out.push(item);
  return out;
}

export const past = () => new Date(Date.now() - 600_000);
export const future = () => new Date(Date.now() + 600_000);
