// What the tests of files share: the client, fresh shares, exact refusals, and which methods were called.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  ShareClient,
  ShareDirectoryClient,
  ShareFileClient,
  ShareLeaseClient,
  ShareServiceClient,
} from "@azure/storage-file-share";

export const ACCOUNT = "devstoreaccount1";
export const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
export const NO_RETRY = { retryOptions: { maxTries: 1 } };
export const SDDL = "O:BAG:SYD:(A;;FA;;;SY)(A;;FA;;;BA)";
export const future = () => new Date(Date.now() + 600_000);

// Private in the client's types; JavaScript shows them like any other.
const INSIDE = [
  "listItems", "listSegments", "listSharesSegment", "iterateFilesAndDirectoriesSegments",
  "iterateHandleSegments", "listFilesAndDirectoriesItems", "listFilesAndDirectoriesSegment",
  "listHandleItems", "listHandlesSegment", "forceCloseHandlesSegment", "uploadSeekableBlob",
  "uploadSeekableInternal",
];
const KINDS = { ShareServiceClient, ShareClient, ShareDirectoryClient, ShareFileClient, ShareLeaseClient };
const called = new Set();
const returned = new Set();

// A method counts only when a test itself calls it, not when the client does inside.
function watch(label, kind, name) {
  const inner = kind.prototype[name];
  kind.prototype[name] = function (...args) {
    const ours = !new Error().stack.split("\n")[2].includes("node_modules");
    if (ours) called.add(label);
    const result = inner.apply(this, args);
    const note = () => ours && returned.add(label);
    if (typeof result?.then === "function") result.then(note, () => {});
    else note();
    return result;
  };
}

export const METHODS = Object.entries(KINDS).flatMap(([label, kind]) =>
  Object.getOwnPropertyNames(kind.prototype)
    .filter((name) => name !== "constructor" && !INSIDE.includes(name))
    .filter((name) => typeof Object.getOwnPropertyDescriptor(kind.prototype, name).value === "function")
    .map((name) => {
      watch(`${label}.${name}`, kind, name);
      return `${label}.${name}`;
    }),
);
export const neverCalled = () => METHODS.filter((name) => !called.has(name));
export const neverReturned = () => METHODS.filter((name) => !returned.has(name)).sort();

export function connect(endpoint) {
  return ShareServiceClient.fromConnectionString(
    `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};FileEndpoint=${endpoint};`,
    NO_RETRY,
  );
}

export const service = connect(`${process.env.ZAFFRE_FILE_URL}/${ACCOUNT}`);

export async function fresh(from = service) {
  const share = from.getShareClient(`js-${randomUUID()}`);
  await share.create();
  return share;
}

export async function all(iterator) {
  const out = [];
  for await (const item of iterator) out.push(item);
  return out;
}

// The promise is refused with exactly this status and error code.
export async function refused(promise, status, code) {
  await assert.rejects(promise, (error) => {
    const found = error.response?.headers?.get("x-ms-error-code") ?? error.code;
    assert.deepEqual([error.statusCode, found], [status, code ?? found]);
    return true;
  });
}
