// Query Blob Contents through the JavaScript client.

import assert from "node:assert/strict";
import test from "node:test";
import { box as fresh } from "./common.mjs";

async function text(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("query: delimited text, progress and the end", async () => {
  const blob = (await fresh()).getBlockBlobClient("people.csv");
  const content = "name,age\nann,31\nbo,7\n";
  await blob.upload(content, content.length);
  const progress = [];
  const answer = await blob.query("SELECT name FROM BlobStorage WHERE age > 30", {
    inputTextConfiguration: { kind: "csv", recordSeparator: "\n", hasHeaders: true },
    outputTextConfiguration: { kind: "csv", recordSeparator: "\n" },
    onProgress: ({ loadedBytes }) => progress.push(loadedBytes),
  });
  assert.equal(await text(answer.readableStreamBody), "ann\n");
  assert.equal(progress.at(-1), content.length);
});

test("query: JSON", async () => {
  const blob = (await fresh()).getBlockBlobClient("things.json");
  const content = '{"a":1,"b":[1,2]}\n{"a":2}\n';
  await blob.upload(content, content.length);
  const answer = await blob.query("SELECT a FROM BlobStorage[*] WHERE b IS MISSING", {
    inputTextConfiguration: { kind: "json", recordSeparator: "\n" },
    outputTextConfiguration: { kind: "json", recordSeparator: "\n" },
  });
  assert.equal(await text(answer.readableStreamBody), '{"a":2}\n');
});

test("query: faults of records", async () => {
  const blob = (await fresh()).getBlockBlobClient("odd.csv");
  await blob.upload("1,a\n2\n", 6);
  const errors = [];
  const answer = await blob.query("SELECT _2 FROM BlobStorage", {
    onError: (error) => errors.push(error),
  });
  assert.equal(await text(answer.readableStreamBody), "a\n");
  assert.deepEqual(errors.map((e) => [e.name, e.isFatal]), [["InvalidColumnOrdinal", false]]);
});

test("tags: set, get, find", async () => {
  const box = await fresh();
  const blob = box.getBlockBlobClient("tagged");
  await blob.upload("x", 1, { tags: { run: box.containerName } });
  assert.deepEqual((await blob.getTags()).tags, { run: box.containerName });
  const found = [];
  for await (const each of box.findBlobsByTags(`run='${box.containerName}'`)) found.push(each.name);
  assert.deepEqual(found, ["tagged"]);
  await blob.setTags({});
  assert.deepEqual((await blob.getTags()).tags, {});
});
