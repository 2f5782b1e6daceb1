"""The samples, run as their readers would, against a server of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import DEV_ACCOUNT, DEV_KEY, Server
from harness.rust import rust_program

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "samples"
NODE_FOLDER = ROOT / "target" / "test-env" / "node"
EXPECTED = [
    "refused: 412 ConditionNotMet",
    "nothing is lost",
    "refused: 412 LeaseIdMissing",
    "refused: 409 LeaseAlreadyPresent",
    "refused: 412 UpdateConditionNotSatisfied",
    "the last writer wins: 12 apples",
    "refused: 404 MessageNotFound",
    "refused: 409 SharingViolation",
    "refused: 409 FileLockConflict",
    "which the lock allows",
    "All five went as they should.",
]


def node() -> str:
    """The same choice of node as run.py makes: its own when the machine's is too old."""
    own = list((ROOT / "target" / "test-env" / "node-runtime").glob("node_modules/*/bin/node"))
    return str(own[0]) if own else shutil.which("node") or "node"


def connection(server) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"BlobEndpoint={server.url}/{DEV_ACCOUNT};QueueEndpoint={server.queue_url}/{DEV_ACCOUNT};"
        f"TableEndpoint={server.table_url}/{DEV_ACCOUNT};"
        f"FileEndpoint={server.file_url}/{DEV_ACCOUNT};"
    )


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command_of(language: str) -> list[str]:
    folder = SAMPLES / "concurrency"
    if language == "python":
        return [sys.executable, str(folder / "concurrency.py")]
    if language == "javascript":
        # Beside the installed clients, because that is where node looks for them.
        shutil.copy(folder / "smb.py", NODE_FOLDER)
        return [node(), str(shutil.copy(folder / "concurrency.mjs", NODE_FOLDER))]
    return [str(rust_program("concurrency"))]


@pytest.mark.parametrize(
    ("language", "by"),
    [("python", "argument"), ("python", "environment"), ("javascript", "argument"),
     ("javascript", "environment"), ("rust", "argument"), ("rust", "environment")],
)  # fmt: skip
def test_concurrency(server, language, by):
    command, text = command_of(language), connection(server)
    here = {"ZAFFRE_SMB_PORT": str(server.ports["SMB"]), "PYTHON": sys.executable}
    if by == "argument":
        said = run([*command, text], **here)
    else:
        said = run(command, AZURE_STORAGE_CONNECTION_STRING=text, **here)
    at = [said.find(line) for line in EXPECTED]
    assert -1 not in at and at == sorted(at), said


def test_object_store_and_opendal(server):
    """Conditional writes of both crates: every one of the concurrent updates is kept."""
    said = run([str(rust_program("stores")), connection(server)])
    for crate in ("object_store", "opendal"):
        counts = re.search(rf"^{crate}: (\d+) concurrent updates, \d+ tried again, none lost", said, re.M)
        assert counts and int(counts[1]) == 40, said
        print(f"-- {counts[0]}")


CONTROLS = r"""
import { QueueServiceClient } from "@azure/storage-queue";
import { Controls } from "./controls.mjs";
const [connection, consoleUrl] = process.argv.slice(2);
const controls = new Controls(consoleUrl);
const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient("turned");
await queue.create();
await queue.sendMessage("m");
await controls.freeze();
await queue.receiveMessages({ visibilityTimeout: 3600 });
if ((await queue.receiveMessages()).receivedMessageItems.length) throw new Error("too early");
await controls.advance("1h");
const again = (await queue.receiveMessages()).receivedMessageItems;
await controls.resume();
const fault = await controls.addFault("busy", { service: "queue", operation: "PutMessage" });
await queue.sendMessage("n");
const [rule] = await controls.faults();
await controls.removeFault(fault);
await controls.addFault("internal");
await controls.clearFaults();
const metrics = await (await fetch(`${consoleUrl}/metrics`)).text();
const retries = /zaffre_retries_total\{service="queue"\} (\d+)/.exec(metrics)?.[1];
console.log(again[0].dequeueCount, rule.seen, rule.hit, (await controls.faults()).length, retries);
"""


def test_the_javascript_controls():
    shutil.copy(SAMPLES / "test-controls" / "controls.mjs", NODE_FOLDER)
    script = NODE_FOLDER / "controls-sample.mjs"
    script.write_text(CONTROLS)
    with Server("--test-controls") as server:
        said = run([node(), str(script), connection(server), server.console_url])
    assert said.split() == ["2", "2", "1", "0", "1"], said
