// SAS and anonymous access through the JavaScript client.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobSASPermissions,
  ContainerSASPermissions,
  SASProtocol,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { all, anonymous, box, credential, future, past, refused, text, withSas } from "./common.mjs";

async function filled() {
  const c = await box();
  await c.getBlockBlobClient("b").upload("secret", 6);
  return c;
}

function blobSas(c, options) {
  return generateBlobSASQueryParameters(
    { containerName: c.containerName, blobName: "b", expiresOn: future(), ...options },
    credential,
  ).toString();
}

const reach = (c, token) => withSas(token).getContainerClient(c.containerName).getBlockBlobClient("b");
const read = BlobSASPermissions.parse("r");

test("blob SAS reads and does no more", async () => {
  const c = await filled();
  const b = reach(c, blobSas(c, { permissions: read }));
  assert.equal(await text(b), "secret");
  await refused(b.delete(), 403, "AuthorizationPermissionMismatch");
  await refused(b.upload("x", 1), 403, "AuthorizationPermissionMismatch");
});

test("expired, not yet, wrong address, wrong protocol", async () => {
  const c = await filled();
  const one = (o) => reach(c, blobSas(c, { permissions: read, ...o })).getProperties();
  await refused(one({ expiresOn: past() }), 403, "AuthenticationFailed");
  await refused(one({ startsOn: future(), expiresOn: new Date(Date.now() + 9e6) }), 403, "AuthenticationFailed");
  await refused(one({ ipRange: { start: "10.0.0.1" } }), 403, "AuthorizationSourceIPMismatch");
  await refused(one({ protocol: SASProtocol.Https }), 403, "AuthorizationProtocolMismatch");
  await one({ ipRange: { start: "127.0.0.1" }, protocol: SASProtocol.HttpsAndHttp, startsOn: past() });
});

test("overrides", async () => {
  const c = await filled();
  const token = blobSas(c, {
    permissions: read,
    cacheControl: "no-store",
    contentDisposition: "inline",
    contentEncoding: "identity",
    contentLanguage: "it",
    contentType: "text/x-o",
  });
  const p = await reach(c, token).getProperties();
  assert.deepEqual(
    [p.cacheControl, p.contentDisposition, p.contentEncoding, p.contentLanguage, p.contentType],
    ["no-store", "inline", "identity", "it", "text/x-o"],
  );
});

test("container SAS", async () => {
  const c = await filled();
  const token = generateBlobSASQueryParameters(
    {
      containerName: c.containerName,
      permissions: ContainerSASPermissions.parse("rl"),
      expiresOn: future(),
    },
    credential,
  ).toString();
  const reached = withSas(token).getContainerClient(c.containerName);
  assert.deepEqual((await all(reached.listBlobsFlat())).map((b) => b.name), ["b"]);
  assert.equal(await text(reached.getBlobClient("b")), "secret");
  await refused(reached.deleteBlob("b"), 403, "AuthorizationPermissionMismatch");
});

test("stored policy and its withdrawal", async () => {
  const c = await filled();
  await c.setAccessPolicy(undefined, [
    { id: "p", accessPolicy: { expiresOn: future(), startsOn: past(), permissions: "r" } },
  ]);
  const token = generateBlobSASQueryParameters(
    { containerName: c.containerName, blobName: "b", identifier: "p" },
    credential,
  ).toString();
  const b = reach(c, token);
  assert.equal(await text(b), "secret");
  await refused(b.delete(), 403, "AuthorizationPermissionMismatch");
  await c.setAccessPolicy(undefined, []);
  await refused(b.getProperties(), 403, "AuthenticationFailed");
});

test("account SAS", async () => {
  const c = await filled();
  const make = (permissions, resourceTypes, services = "b") =>
    withSas(
      generateAccountSASQueryParameters(
        {
          expiresOn: future(),
          permissions: AccountSASPermissions.parse(permissions),
          resourceTypes: AccountSASResourceTypes.parse(resourceTypes).toString(),
          services: AccountSASServices.parse(services).toString(),
        },
        credential,
      ).toString(),
    );
  const full = make("rwdlac", "sco");
  assert.equal(await text(full.getContainerClient(c.containerName).getBlobClient("b")), "secret");
  await all(full.listContainers({ prefix: c.containerName }));
  await refused(
    make("r", "sco").getContainerClient(c.containerName).deleteBlob("b"),
    403,
    "AuthorizationPermissionMismatch",
  );
  await refused(
    make("rl", "s").getContainerClient(c.containerName).getBlobClient("b").getProperties(),
    403,
    "AuthorizationResourceTypeMismatch",
  );
  await refused(
    make("rl", "sco", "q").getContainerClient(c.containerName).getBlobClient("b").getProperties(),
    403,
    "AuthorizationServiceMismatch",
  );
});

test("anonymous levels", async () => {
  const c = await filled();
  const open = anonymous().getContainerClient(c.containerName);
  await refused(open.getBlobClient("b").getProperties(), 401, "NoAuthenticationInformation");
  await c.setAccessPolicy("blob", []);
  assert.equal(await text(open.getBlobClient("b")), "secret");
  await refused(all(open.listBlobsFlat()), 401, "NoAuthenticationInformation");
  await c.setAccessPolicy("container", []);
  assert.deepEqual((await all(open.listBlobsFlat())).map((b) => b.name), ["b"]);
  await refused(open.deleteBlob("b"), 401, "NoAuthenticationInformation");
});
