// @azure/storage-queue through every public method.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AnonymousCredential,
  QueueClient,
  QueueSASPermissions,
  QueueServiceClient,
  StorageSharedKeyCredential,
  generateAccountSASQueryParameters,
  AccountSASResourceTypes,
  AccountSASServices,
  generateQueueSASQueryParameters,
  newPipeline,
} from "@azure/storage-queue";

const ACCOUNT = "devstoreaccount1";
const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const ENDPOINT = `${process.env.ZAFFRE_QUEUE_URL}/${ACCOUNT}`;
const NO_RETRY = { retryOptions: { maxTries: 1 } };
const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
const connection =
  `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};QueueEndpoint=${ENDPOINT};`;
const service = QueueServiceClient.fromConnectionString(connection, NO_RETRY);
const future = () => new Date(Date.now() + 600_000);

async function fresh(options) {
  const queue = service.getQueueClient(`js-${randomUUID()}`);
  await queue.create(options);
  return queue;
}

async function refused(promise, status, code) {
  await assert.rejects(promise, (error) => {
    const found = error.response?.headers?.get("x-ms-error-code") ?? error.code;
    assert.deepEqual([error.statusCode, found], [status, code ?? found]);
    return true;
  });
}

async function all(iterator) {
  const out = [];
  for await (const item of iterator) out.push(item);
  return out;
}

const methods = (kind) =>
  Object.getOwnPropertyNames(kind.prototype)
    .filter((name) => name !== "constructor")
    .filter((name) => typeof Object.getOwnPropertyDescriptor(kind.prototype, name).value === "function")
    .filter((name) => !["listQueuesSegment", "listSegments", "listItems", "getAccountNameFromUrl"].includes(name))
    .sort();

test("these are all public methods", () => {
  assert.deepEqual(methods(QueueServiceClient), [
    "createQueue", "deleteQueue", "generateAccountSasUrl", "generateSasStringToSign",
    "getProperties", "getQueueClient", "getStatistics", "getUserDelegationKey", "listQueues",
    "setProperties",
  ]);
  assert.deepEqual(methods(QueueClient), [
    "clearMessages", "create", "createIfNotExists", "delete", "deleteIfExists", "deleteMessage",
    "exists", "generateSasStringToSign", "generateSasUrl", "generateUserDelegationSasUrl",
    "generateUserDelegationStringToSign", "getAccessPolicy", "getProperties", "getQueueNameFromUrl",
    "peekMessages", "receiveMessages", "sendMessage", "setAccessPolicy", "setMetadata",
    "updateMessage",
  ]);
});

test("service properties", async () => {
  const before = await service.getProperties();
  assert.deepEqual(before.cors ?? [], []);
  await service.setProperties({
    queueAnalyticsLogging: {
      version: "1.0", deleteProperty: true, read: true, write: false,
      retentionPolicy: { enabled: true, days: 3 },
    },
    hourMetrics: {
      version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: { enabled: false },
    },
  });
  const after = await service.getProperties();
  assert.equal(after.queueAnalyticsLogging.retentionPolicy.days, 3);
  assert.equal(after.hourMetrics.includeAPIs, true);
});

test("statistics", async () => {
  const secondary = new QueueServiceClient(`${ENDPOINT}-secondary`, credential, NO_RETRY);
  const stats = await secondary.getStatistics();
  // This version of the client does not show what it got.
  assert.match(stats._response.bodyAsText, /<Status>live<\/Status><LastSyncTime>[^<]+</);
});

test("listing", async () => {
  const prefix = `js-list-${Date.now()}`;
  for (let i = 0; i < 5; i++) {
    await service.createQueue(`${prefix}-${i}`, { metadata: { n: String(i) } });
  }
  const names = (await all(service.listQueues({ prefix }))).map((q) => q.name);
  assert.deepEqual(names, [0, 1, 2, 3, 4].map((i) => `${prefix}-${i}`));
  const pages = await all(service.listQueues({ prefix, includeMetadata: true }).byPage({ maxPageSize: 2 }));
  assert.deepEqual(pages.map((p) => p.queueItems.length), [2, 2, 1]);
  assert.deepEqual(pages[2].queueItems[0].metadata, { n: "4" });
  for (const name of names) await service.deleteQueue(name);
  assert.deepEqual(await all(service.listQueues({ prefix })), []);
});

test("creation and deletion", async () => {
  const queue = service.getQueueClient(`js-${randomUUID()}`);
  assert.equal(await queue.exists(), false);
  assert.equal((await queue.create({ metadata: { a: "1" } }))._response.status, 201);
  assert.equal((await queue.create({ metadata: { a: "1" } }))._response.status, 204);
  await refused(queue.create(), 409, "QueueAlreadyExists");
  assert.equal((await queue.createIfNotExists()).succeeded, false);
  assert.equal(await queue.exists(), true);
  assert.equal((await queue.deleteIfExists()).succeeded, true);
  assert.equal((await queue.deleteIfExists()).succeeded, false);
  await refused(queue.delete(), 404, "QueueNotFound");
  assert.equal((await queue.createIfNotExists()).succeeded, true);
  await queue.delete();
});

test("metadata and count", async () => {
  const queue = await fresh();
  await queue.setMetadata({ one: "1", two: "2" });
  await queue.sendMessage("x");
  const found = await queue.getProperties();
  assert.deepEqual(found.metadata, { one: "1", two: "2" });
  assert.equal(found.approximateMessagesCount, 1);
});

test("access policies", async () => {
  const queue = await fresh();
  const policy = { startsOn: new Date("2026-01-01T00:00:00Z"), expiresOn: future(), permissions: "raup" };
  await queue.setAccessPolicy([{ id: "p", accessPolicy: policy }]);
  const found = await queue.getAccessPolicy();
  assert.equal(found.signedIdentifiers[0].id, "p");
  assert.equal(found.signedIdentifiers[0].accessPolicy.permissions, "raup");
  const token = generateQueueSASQueryParameters({ queueName: queue.name, identifier: "p" }, credential);
  const other = new QueueClient(`${ENDPOINT}/${queue.name}?${token}`, new AnonymousCredential(), NO_RETRY);
  await other.sendMessage("by policy");
  await queue.setAccessPolicy();
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
  await refused(other.sendMessage("no more"), 403);
});

test("messages", async () => {
  const queue = await fresh();
  const sent = await queue.sendMessage("a & <b> é 🙂");
  assert.ok(sent.messageId && sent.popReceipt && sent.expiresOn > sent.insertedOn);
  await queue.sendMessage("later", { visibilityTimeout: 600, messageTimeToLive: 1200 });
  await queue.sendMessage("for ever", { messageTimeToLive: -1 });
  const seen = await queue.peekMessages({ numberOfMessages: 32 });
  assert.deepEqual(seen.peekedMessageItems.map((m) => m.messageText), ["a & <b> é 🙂", "for ever"]);
  const taken = await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 60 });
  assert.deepEqual(taken.receivedMessageItems.map((m) => m.dequeueCount), [1, 1]);
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  const [first, second] = taken.receivedMessageItems;
  const updated = await queue.updateMessage(first.messageId, first.popReceipt, "new", 0);
  await refused(queue.deleteMessage(first.messageId, first.popReceipt), 404, "MessageNotFound");
  await refused(queue.deleteMessage(first.messageId, second.popReceipt), 400, "PopReceiptMismatch");
  assert.equal((await queue.peekMessages()).peekedMessageItems[0].messageText, "new");
  await queue.updateMessage(first.messageId, updated.popReceipt);
  await queue.deleteMessage(second.messageId, second.popReceipt);
  await queue.clearMessages();
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
  await refused(queue.sendMessage("x".repeat(65537)), 413, "RequestBodyTooLarge");
});

test("credentials", async () => {
  const queue = await fresh();
  const token = generateQueueSASQueryParameters(
    { queueName: queue.name, permissions: QueueSASPermissions.parse("a"), expiresOn: future() }, credential);
  const writer = new QueueClient(`${ENDPOINT}/${queue.name}?${token}`, newPipeline(new AnonymousCredential(), NO_RETRY));
  await writer.sendMessage("x");
  await refused(writer.peekMessages(), 403, "AuthorizationPermissionMismatch");
  const url = await queue.generateSasUrl({ permissions: QueueSASPermissions.parse("r"), expiresOn: future() });
  const reader = new QueueClient(url, new AnonymousCredential(), NO_RETRY);
  assert.equal((await reader.peekMessages()).peekedMessageItems.length, 1);
  assert.ok(queue.generateSasStringToSign({ permissions: QueueSASPermissions.parse("r"), expiresOn: future() }));
  const account = service.generateAccountSasUrl(future(), AccountSASPermissions.parse("rl"), "sco");
  const lister = new QueueServiceClient(account, new AnonymousCredential(), NO_RETRY);
  assert.ok((await all(lister.listQueues({ prefix: queue.name }))).length === 1);
  assert.ok(service.generateSasStringToSign(future(), AccountSASPermissions.parse("rl"), "sco"));
  const other = generateAccountSASQueryParameters({
    expiresOn: future(), permissions: AccountSASPermissions.parse("rl"),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
    services: AccountSASServices.parse("b").toString(),
  }, credential).toString();
  const stranger = new QueueServiceClient(`${ENDPOINT}?${other}`, new AnonymousCredential(), NO_RETRY);
  await refused(stranger.getProperties(), 403, "AuthorizationServiceMismatch");
  const nobody = new QueueClient(`${ENDPOINT}/${queue.name}`, new AnonymousCredential(), NO_RETRY);
  await refused(nobody.peekMessages(), 401, "NoAuthenticationInformation");
});

test("what needs a token says so", async () => {
  await assert.rejects(service.getUserDelegationKey(new Date(), future()));
});
