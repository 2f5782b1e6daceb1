// 300 MiB up and down in parallel chunks, compared by hash.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { box } from "./common.mjs";

const MIB = 1024 * 1024;
const SIZE = 300 * MIB;

test("300 MiB in parallel", async () => {
  const unit = randomBytes(MIB);
  const data = Buffer.alloc(SIZE);
  for (let i = 0; i < SIZE / MIB; i += 1) {
    unit.writeUInt32LE(i); // each MiB differs, so that swapped chunks change the hash
    unit.copy(data, i * MIB);
  }
  const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");
  const b = (await box()).getBlockBlobClient("big.bin");
  await b.uploadData(data, { blockSize: 8 * MIB, concurrency: 4 });
  assert.equal((await b.getProperties()).contentLength, SIZE);
  assert.equal((await b.getBlockList("committed")).committedBlocks.length, Math.ceil(SIZE / (8 * MIB)));
  const back = await b.downloadToBuffer(0, SIZE, { blockSize: 8 * MIB, concurrency: 4 });
  assert.equal(hash(back), hash(data));
});
