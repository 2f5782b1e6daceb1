// The service client's own methods through the JavaScript client: properties, stats, batches.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { ENDPOINT, NO_RETRY, all, box, credential, refused, service } from "./common.mjs";

test("service properties come back", async () => {
  await service.setProperties({
    cors: [
      {
        allowedOrigins: "http://a.com",
        allowedMethods: "GET,PUT",
        allowedHeaders: "x-ms-*",
        exposedHeaders: "*",
        maxAgeInSeconds: 8,
      },
    ],
    hourMetrics: {
      enabled: true,
      includeAPIs: true,
      retentionPolicy: { enabled: true, days: 3 },
      version: "1.0",
    },
    staticWebsite: { enabled: true, indexDocument: "index.html", errorDocument404Path: "404.html" },
  });
  const found = await service.getProperties();
  assert.equal(found.cors.length, 1);
  assert.equal(found.cors[0].maxAgeInSeconds, 8);
  assert.equal(found.hourMetrics.retentionPolicy.days, 3);
  assert.equal(found.staticWebsite.errorDocument404Path, "404.html");
  await service.setProperties({ cors: [], staticWebsite: { enabled: false } });
  const after = await service.getProperties();
  assert.deepEqual([after.cors ?? [], after.staticWebsite.enabled], [[], false]);
  assert.equal(after.hourMetrics.enabled, true);
});

test("bad properties are refused", async () => {
  const rule = {
    allowedOrigins: "*",
    allowedMethods: "GET",
    allowedHeaders: "",
    exposedHeaders: "",
    maxAgeInSeconds: 1,
  };
  await refused(service.setProperties({ cors: Array(6).fill(rule) }), 400, "InvalidXmlDocument");
});

test("stats come from the secondary", async () => {
  await refused(service.getStatistics(), 400, "InvalidQueryParameterValue");
  const secondary = new BlobServiceClient(`${ENDPOINT}-secondary`, credential, NO_RETRY);
  const stats = await secondary.getStatistics();
  assert.equal(stats.geoReplication.status, "live");
  assert.ok(Math.abs(Date.now() - stats.geoReplication.lastSyncOn.getTime()) < 60_000);
});

test("account information", async () => {
  const info = await service.getAccountInfo();
  assert.deepEqual([info.skuName, info.accountKind], ["Standard_RAGRS", "StorageV2"]);
});

test("a batch deletes, and one failure leaves the others", async () => {
  const c = await box();
  for (const name of ["a", "b c/ü"]) await c.getBlockBlobClient(name).upload("x", 1);
  const urls = ["a", "none", "b c/ü"].map((name) => c.getBlobClient(name).url);
  const done = await service.getBlobBatchClient().deleteBlobs(urls, credential);
  assert.deepEqual([done.subResponsesSucceededCount, done.subResponsesFailedCount], [2, 1]);
  assert.deepEqual(
    done.subResponses.map((part) => [part.status, part.errorCode]),
    [
      [202, undefined],
      [404, "BlobNotFound"],
      [202, undefined],
    ],
  );
  assert.deepEqual(await all(c.listBlobsFlat()), []);
});

test("a batch of one container", async () => {
  const c = await box();
  await c.getBlockBlobClient("a").upload("x", 1);
  const done = await c.getBlobBatchClient().deleteBlobs([c.getBlobClient("a").url], credential);
  assert.equal(done.subResponsesSucceededCount, 1);
});
