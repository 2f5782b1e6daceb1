// How storage keeps concurrent writers from overwriting one another, step by step.
//
//     npm install @azure/storage-blob @azure/storage-queue @azure/data-tables @azure/storage-file-share
//     pip install smbprotocol
//     node samples/concurrency/concurrency.mjs [connection string]
//
// Every step prints what is done, what the service answers, and why. Without a connection string
// (or AZURE_STORAGE_CONNECTION_STRING) the development account on this machine is used. SMB is spoken by
// smb.py beside this file (run by $PYTHON, or python3), with the host of the FileEndpoint, on port 10445
// unless ZAFFRE_SMB_PORT names another.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";

const KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DEVELOPMENT =
  `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${KEY};` +
  "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;" +
  "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;" +
  "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;" +
  "FileEndpoint=http://127.0.0.1:10003/devstoreaccount1;";

// Does something that must be refused, and says how.
async function refused(status, code, act) {
  await assert.rejects(act, (error) => {
    const said = error.code ?? error.details?.odataError?.code ?? error.message;
    assert.equal(error.statusCode, status);
    assert.ok(`${said} ${error.message}`.includes(code), `${said}`);
    return true;
  });
  console.log(`   refused: ${status} ${code}`);
}

async function optimisticBlob(connection, name) {
  console.log("\n== A blob, optimistically: whoever reads first and writes last must not win blindly");
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
  await container.create();
  const blob = container.getBlockBlobClient("balance.txt");
  const write = (text, options) => blob.upload(text, text.length, options);
  await write("100");
  const { etag } = await blob.getProperties();
  console.log(`1. We read 100 and remember its ETag ${etag}.`);
  await write("50");
  console.log("2. Somebody else writes 50. The blob has a new ETag now.");
  console.log("3. We write what we computed from the old value, if the ETag is still ours:");
  await refused(412, "ConditionNotMet", () => write("110", { conditions: { ifMatch: etag } }));
  const fresh = await blob.getProperties();
  const balance = Number((await blob.downloadToBuffer()).toString()) + 10;
  await write(`${balance}`, { conditions: { ifMatch: fresh.etag } });
  console.log(`4. We read again, compute again, write ${balance}: nothing is lost.`);
  assert.equal(balance, 60);
  await container.delete();
}

async function leasedBlob(connection, name) {
  console.log("\n== A blob, pessimistically: a lease keeps others from writing");
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(name);
  await container.create();
  const blob = container.getBlockBlobClient("report.txt");
  await blob.upload("draft", 5);
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  console.log("1. We take a lease for 15 seconds.");
  console.log("2. A third party writes without it:");
  await refused(412, "LeaseIdMissing", () => blob.upload("theirs", 6));
  console.log("3. A third party wants a lease of its own:");
  await refused(409, "LeaseAlreadyPresent", () => blob.getBlobLeaseClient().acquireLease(15));
  await blob.upload("ours", 4, { conditions: { leaseId: lease.leaseId } });
  console.log("4. We write, naming our lease.");
  await lease.releaseLease();
  await blob.upload("theirs, now", 11);
  console.log("5. We give it back; now everybody may write.");
  await container.delete();
}

async function tableEntity(connection, name) {
  console.log("\n== An entity of a table: an ETag that must match, or `*` for a write that must win");
  const options = { allowInsecureConnection: true };
  const table = TableClient.fromConnectionString(connection, name, options);
  await table.createTable();
  const key = { partitionKey: "stock", rowKey: "apples" };
  const first = await table.createEntity({ ...key, count: 10 });
  console.log(`1. We insert 10 apples; the ETag is ${first.etag}.`);
  await table.updateEntity({ ...key, count: 7 }, "Replace", { etag: "*" });
  console.log("2. Somebody else sells 3: the ETag changes.");
  console.log("3. We replace the entity, if it is as we know it:");
  await refused(412, "UpdateConditionNotSatisfied", () =>
    table.updateEntity({ ...key, count: 12 }, "Replace", { etag: first.etag }),
  );
  await table.updateEntity({ ...key, count: 12 }, "Replace", { etag: "*" });
  console.log("4. With If-Match: * the last writer wins: 12 apples.");
  assert.equal((await table.getEntity("stock", "apples")).count, 12);
  await table.deleteTable();
}

async function queueMessage(connection, name) {
  console.log("\n== A queue: a message whose receiver is late comes back, and the late one cannot delete");
  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient(name);
  await queue.create();
  await queue.sendMessage("pack the parcel");
  const take = async (visibilityTimeout) =>
    (await queue.receiveMessages({ visibilityTimeout })).receivedMessageItems[0];
  const first = await take(1);
  console.log(`1. A worker takes the message for one second; dequeued ${first.dequeueCount} time.`);
  console.log("2. The worker is slow; the message becomes visible again.");
  let second;
  for (let turn = 0; turn < 100 && !second; turn += 1) {
    second = await take(30);
    if (!second) await sleep(100);
  }
  assert.equal(second.messageId, first.messageId);
  console.log(`   Another worker takes it; dequeued ${second.dequeueCount} times.`);
  console.log("3. The first worker is done at last and deletes by its old pop receipt:");
  await refused(404, "MessageNotFound", () =>
    queue.deleteMessage(first.messageId, first.popReceipt),
  );
  await queue.deleteMessage(second.messageId, second.popReceipt);
  console.log("4. The second worker's receipt is the valid one: the message is gone.");
  await queue.delete();
}

// An SMB client that obeys: each call sends a line, and waits until it is done.
function overSmb(connection, share, file) {
  const parts = Object.fromEntries(
    connection.split(";").filter(Boolean).map((part) => part.split(/=(.*)/s).slice(0, 2)),
  );
  const host = new URL(parts.FileEndpoint).hostname;
  const port = process.env.ZAFFRE_SMB_PORT ?? "10445";
  const script = new URL("smb.py", import.meta.url).pathname;
  const words = [script, host, port, parts.AccountName, parts.AccountKey, share, file];
  const stdio = ["pipe", "pipe", "inherit"];
  const client = spawn(process.env.PYTHON ?? "python3", words, { stdio });
  const answers = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  return {
    async do(line) {
      client.stdin.write(`${line}\n`);
      assert.equal((await answers.next()).value, "ok");
    },
    end: () => client.stdin.end(),
  };
}

async function sharedFile(connection, name) {
  console.log("\n== A file of a share: what SMB clients have open or locked, REST respects");
  const share = ShareServiceClient.fromConnectionString(connection).getShareClient(name);
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("plan.txt");
  await file.uploadData(Buffer.from("version one"));
  const smb = overSmb(connection, name, "plan.txt");
  await smb.do("open alone");
  console.log("1. An SMB client opens the file and shares it with nobody.");
  console.log("2. REST wants to read it:");
  await refused(409, "SharingViolation", () => file.download());
  await smb.do("close");
  await smb.do("open shared");
  await smb.do("lock 0 7");
  console.log("3. It opens the file again, shares it, and locks bytes 0 to 6.");
  console.log("4. REST writes, if only beside them; it needs a file without any lock:");
  await refused(409, "FileLockConflict", () => file.uploadRange("two", 8, 3));
  assert.equal((await file.downloadToBuffer(8, 3)).toString(), "one");
  console.log("5. REST reads beside them, which the lock allows.");
  await smb.do("unlock 0 7");
  await file.uploadRange("two", 8, 3);
  smb.end();
  console.log("6. The SMB client unlocks; REST writes what it wanted.");
  assert.equal((await file.downloadToBuffer()).toString(), "version two");
  await share.delete();
}

const given = process.argv[2] ?? process.env.AZURE_STORAGE_CONNECTION_STRING;
const name = `sample${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
for (const step of [optimisticBlob, leasedBlob, tableEntity, queueMessage, sharedFile]) {
  await step(given ?? DEVELOPMENT, name);
}
console.log("\nAll five went as they should.");
