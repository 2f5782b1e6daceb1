// @azure/data-tables through every public method.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  TableClient,
  TableServiceClient,
  TableTransaction,
  generateAccountSas,
  generateTableSas,
  odata,
} from "@azure/data-tables";

const ACCOUNT = "devstoreaccount1";
const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const ENDPOINT = `${process.env.ZAFFRE_TABLE_URL}/${ACCOUNT}`;
const OPTIONS = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
const service = new TableServiceClient(ENDPOINT, credential, OPTIONS);
const newName = () => `J${randomUUID().replaceAll("-", "")}`;
const entity = (rowKey, properties = {}) => ({ partitionKey: "p", rowKey, ...properties });
const all = async (pages) => {
  const found = [];
  for await (const each of pages) found.push(each);
  return found;
};
const refused = async (status, code, work) => {
  await assert.rejects(work, (error) => {
    assert.equal(error.statusCode, status, `${error}`);
    if (code) assert.equal(error.details?.odataError?.code ?? error.code, code);
    return true;
  });
};

async function fresh() {
  const name = newName();
  await service.createTable(name);
  return new TableClient(ENDPOINT, name, credential, OPTIONS);
}

test("tables", async () => {
  const name = newName();
  await service.createTable(name);
  await service.createTable(name); // The client swallows the conflict.
  const found = await all(service.listTables({ queryOptions: { filter: odata`TableName eq ${name}` } }));
  assert.deepEqual(found.map((each) => each.name), [name]);
  await service.deleteTable(name);
  assert.equal((await all(service.listTables())).some((each) => each.name === name), false);
  const table = new TableClient(ENDPOINT, name, credential, OPTIONS);
  await table.createTable();
  await table.deleteTable();
});

test("every type comes back", async () => {
  const table = await fresh();
  const born = new Date("1973-10-04T01:02:03.456Z");
  const sent = entity("r", {
    text: "héllo 'quoted'",
    whole: 7,
    ratio: 1.5,
    big: { type: "Int64", value: "1125899906842624" },
    yes: true,
    born,
    data: new Uint8Array([0, 255]),
    id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    nothing: null,
  });
  await table.createEntity(sent);
  const got = await table.getEntity("p", "r");
  assert.equal(got.text, sent.text);
  assert.equal(got.whole, 7);
  assert.equal(got.ratio, 1.5);
  assert.equal(got.big, 1125899906842624n);
  assert.equal(got.yes, true);
  assert.equal(got.born.getTime(), born.getTime());
  assert.deepEqual([...got.data], [0, 255]);
  assert.equal(got.id.value, sent.id.value);
  assert.equal("nothing" in got, false);
  assert.ok(got.etag && got.timestamp);
});

test("write, conflict, delete", async () => {
  const table = await fresh();
  const made = await table.createEntity(entity("r", { n: 1 }));
  await refused(409, "EntityAlreadyExists", () => table.createEntity(entity("r")));
  const changed = await table.updateEntity(entity("r", { m: 2 }), "Merge", { etag: made.etag });
  const got = await table.getEntity("p", "r");
  assert.deepEqual([got.n, got.m, got.etag], [1, 2, changed.etag]);
  await refused(412, "UpdateConditionNotSatisfied", () =>
    table.updateEntity(entity("r", { n: 9 }), "Replace", { etag: made.etag }));
  await refused(412, undefined, () => table.deleteEntity("p", "r", { etag: made.etag }));
  await table.updateEntity(entity("r", { n: 3 }), "Replace");
  assert.equal("m" in (await table.getEntity("p", "r")), false);
  await table.upsertEntity(entity("r", { k: 4 }), "Merge");
  await table.upsertEntity(entity("s", { k: 5 }), "Replace");
  assert.equal((await table.getEntity("p", "r")).n, 3);
  const chosen = await table.getEntity("p", "r", { queryOptions: { select: ["k"] } });
  assert.equal(chosen.k, 4);
  assert.equal(chosen.n, undefined);
  await table.deleteEntity("p", "r");
  await refused(404, "ResourceNotFound", () => table.getEntity("p", "r"));
});

test("lists and pages", async () => {
  const table = await fresh();
  const actions = Array.from({ length: 100 }, (_, n) => ["create", entity(`${1000 + n}`, { n })]);
  await table.submitTransaction(actions);
  assert.equal((await all(table.listEntities())).length, 100);
  const some = await all(table.listEntities({ queryOptions: { filter: odata`n ge ${95}`, select: ["n"] } }));
  assert.deepEqual(some.map((each) => each.n), [95, 96, 97, 98, 99]);
  const sizes = [];
  let token;
  for await (const page of table.listEntities().byPage({ maxPageSize: 40 })) {
    sizes.push(page.length);
    token ??= page.continuationToken;
  }
  assert.deepEqual(sizes, [40, 40, 20]);
  const rest = table.listEntities().byPage({ maxPageSize: 100, continuationToken: token });
  assert.equal((await rest.next()).value.length, 60);
});

test("transactions", async () => {
  const table = await fresh();
  const transaction = new TableTransaction();
  transaction.createEntity(entity("a", { n: 1 }));
  transaction.upsertEntity(entity("b", { n: 2 }), "Replace");
  const answer = await table.submitTransaction(transaction.actions);
  assert.equal(answer.status, 202);
  assert.equal(answer.subResponses.length, 2);
  assert.equal(answer.getResponseForEntity("a").status, 204);
  assert.ok(answer.subResponses.every((each) => each.etag));
  await table.submitTransaction([
    ["update", entity("a", { n: 3 }), "Merge"],
    ["delete", entity("b")],
  ]);
  assert.deepEqual((await all(table.listEntities())).map((each) => [each.rowKey, each.n]), [["a", 3]]);
  await refused(409, "EntityAlreadyExists", () =>
    table.submitTransaction([["create", entity("c")], ["create", entity("a")]]));
  assert.equal((await all(table.listEntities())).length, 1);
});

test("access", async () => {
  const table = await fresh();
  await table.createEntity(entity("r"));
  await table.setAccessPolicy([
    { id: "mine", accessPolicy: { permission: "r", start: new Date(), expiry: new Date(Date.now() + 600_000) } },
  ]);
  const policies = await table.getAccessPolicy();
  assert.deepEqual(policies.map((each) => each.id), ["mine"]);
  const sas = generateTableSas(table.tableName, credential, { permissions: { query: true } });
  const reader = new TableClient(ENDPOINT, table.tableName, new AzureSASCredential(sas), OPTIONS);
  assert.equal((await all(reader.listEntities())).length, 1);
  await refused(403, undefined, () => reader.createEntity(entity("x")));
  const whole = generateAccountSas(credential, { permissions: { query: true, list: true } });
  const lister = new TableServiceClient(ENDPOINT, new AzureSASCredential(whole), OPTIONS);
  assert.ok((await all(lister.listTables())).length > 0);
  const text = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};TableEndpoint=${ENDPOINT};`;
  const named = TableClient.fromConnectionString(text, table.tableName, OPTIONS);
  assert.equal((await named.getEntity("p", "r")).rowKey, "r");
});

test("service properties and stats", async () => {
  const rule = {
    allowedOrigins: "http://b.example", allowedMethods: "GET", allowedHeaders: "x-ms-*",
    exposedHeaders: "x", maxAgeInSeconds: 5,
  };
  await service.setProperties({ cors: [rule] });
  assert.equal((await service.getProperties()).cors[0].allowedOrigins, "http://b.example");
  await service.setProperties({ cors: [] });
  const secondary = new TableServiceClient(`${ENDPOINT}-secondary`, credential, OPTIONS);
  assert.equal((await secondary.getStatistics()).geoReplication.status, "live");
});
