// Container operations through the JavaScript client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { all, box, future, past, refused, service } from "./common.mjs";

const ETAG = /^"0x[0-9A-F]{15}"$/;

test("create, properties, exists, delete", async () => {
  const c = await box({ metadata: { Team: "blue" } });
  const p = await c.getProperties();
  assert.match(p.etag, ETAG);
  assert.deepEqual(p.metadata, { team: "blue" }); // this client folds names
  assert.equal(p.leaseState, "available");
  assert.equal(p.leaseStatus, "unlocked");
  assert.equal(p.hasImmutabilityPolicy, false);
  assert.equal(p.hasLegalHold, false);
  assert.equal(p.blobPublicAccess, undefined);
  assert.equal(await c.exists(), true);
  await refused(c.create(), 409, "ContainerAlreadyExists");
  assert.equal((await c.createIfNotExists()).succeeded, false);
  await c.delete();
  assert.equal(await c.exists(), false);
  await refused(c.getProperties(), 404);
  await refused(c.delete(), 404, "ContainerNotFound");
  assert.equal((await c.deleteIfExists()).succeeded, false);
});

for (const access of ["container", "blob"]) {
  test(`create with public access ${access}`, async () => {
    const c = await box({ access });
    assert.equal((await c.getProperties()).blobPublicAccess, access);
    assert.equal((await c.getAccessPolicy()).blobPublicAccess, access);
  });
}

test("metadata replaces all and moves the ETag", async () => {
  const c = await box({ metadata: { a: "1" } });
  const before = await c.getProperties();
  const set = await c.setMetadata({ b: "2" });
  assert.notEqual(set.etag, before.etag);
  assert.deepEqual((await c.getProperties()).metadata, { b: "2" });
  await refused(
    c.setMetadata({ c: "3" }, { conditions: { ifModifiedSince: future() } }),
    412,
    "ConditionNotMet",
  );
  await c.setMetadata({}, { conditions: { ifModifiedSince: past() } });
  assert.deepEqual((await c.getProperties()).metadata, {});
});

test("access policies round trip", async () => {
  const c = await box();
  const startsOn = new Date("2024-01-02T03:04:05Z");
  const expiresOn = new Date("2034-01-02T03:04:05Z");
  await c.setAccessPolicy("blob", [
    { id: "one", accessPolicy: { startsOn, expiresOn, permissions: "rl" } },
    { id: "two", accessPolicy: { permissions: "w" } },
  ]);
  const got = await c.getAccessPolicy();
  assert.equal(got.blobPublicAccess, "blob");
  assert.deepEqual(
    got.signedIdentifiers.map((s) => [s.id, s.accessPolicy.permissions]),
    [["one", "rl"], ["two", "w"]],
  );
  assert.equal(+got.signedIdentifiers[0].accessPolicy.startsOn, +startsOn);
  assert.equal(+got.signedIdentifiers[0].accessPolicy.expiresOn, +expiresOn);
  await refused(
    c.setAccessPolicy(undefined, [], { conditions: { ifUnmodifiedSince: past() } }),
    412,
    "ConditionNotMet",
  );
  await c.setAccessPolicy(undefined, undefined);
  assert.deepEqual((await c.getAccessPolicy()).signedIdentifiers, []);
});

test("six access policies are too many", async () => {
  const c = await box();
  const six = [..."abcdef"].map((id) => ({ id, accessPolicy: { permissions: "r" } }));
  await refused(c.setAccessPolicy(undefined, six), 400, "InvalidXmlDocument");
});

test("list containers by prefix, pages and metadata", async () => {
  const prefix = `jslist${Date.now()}`;
  const names = [...Array(5).keys()].map((i) => `${prefix}-${i}`);
  for (const name of names) await service.createContainer(name, { metadata: { n: name } });
  const got = await all(service.listContainers({ prefix, includeMetadata: true }));
  assert.deepEqual(got.map((c) => c.name), names);
  assert.deepEqual(got.map((c) => c.metadata.n), names);
  for (const c of got) assert.match(c.properties.etag, ETAG);
  const pages = await all(service.listContainers({ prefix }).byPage({ maxPageSize: 2 }));
  assert.deepEqual(pages.map((p) => p.containerItems.length), [2, 2, 1]);
  const resumed = service
    .listContainers({ prefix })
    .byPage({ continuationToken: pages[0].continuationToken });
  const rest = (await resumed.next()).value.containerItems.map((c) => c.name);
  assert.deepEqual(rest, names.slice(2));
});

test("container lease", async () => {
  const c = await box();
  const lease = c.getBlobLeaseClient();
  await lease.acquireLease(15);
  await refused(c.getBlobLeaseClient().acquireLease(15), 409, "LeaseAlreadyPresent");
  await lease.renewLease();
  await lease.changeLease("11111111-2222-3333-4444-555555555555");
  assert.equal(lease.leaseId, "11111111-2222-3333-4444-555555555555");
  const p = await c.getProperties();
  assert.deepEqual([p.leaseState, p.leaseStatus, p.leaseDuration], ["leased", "locked", "fixed"]);
  await refused(c.delete(), 412, "LeaseIdMissing");
  await refused(
    c.delete({ conditions: { leaseId: "99999999-2222-3333-4444-555555555555" } }),
    412,
    "LeaseIdMismatchWithContainerOperation",
  );
  await lease.breakLease(0);
  assert.equal((await c.getProperties()).leaseState, "broken");
  await refused(c.delete({ conditions: { leaseId: lease.leaseId } }), 412, "LeaseLost");
  await lease.releaseLease();
  await lease.acquireLease(-1);
  await c.delete({ conditions: { leaseId: lease.leaseId } });
});

test("account information", async () => {
  const info = await service.getAccountInfo();
  assert.ok(info.skuName);
  assert.ok(info.accountKind);
});

test("request ids are echoed and made", async () => {
  const c = await box();
  const answer = await c.getProperties();
  assert.equal(answer.clientRequestId, answer._response.request.headers.get("x-ms-client-request-id"));
  assert.match(answer.requestId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
