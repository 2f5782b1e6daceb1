"""The Azure CLI: the command lines of docs/clients.md, in their order, each with what must come of it.

The CLI takes a second to start. The lines are therefore run by one process, as `az` itself runs them; the
program is started once.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness import DEV_ACCOUNT, DEV_KEY

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "clients.md"
LEASE = "11111111-1111-1111-1111-111111111111"
TREE = {"a.txt": "hello", "sub/b.txt": "below"}


def lines() -> list[str]:
    section = DOCUMENT.read_text().split("\n## az\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("az ")]


def is_true(field: str):
    return lambda out, _: out[field] is True


def is_sas(out, _) -> bool:
    return "sig=" in out


def names(*wanted: str):
    return lambda out, _: [row["name"] for row in out] == list(wanted)


def equals(wanted):
    return lambda out, _: out == wanted


def done(*_) -> bool:
    """Nothing is answered that could be wrong; a later line shows what it did."""
    return True


def batch_is_there(_, folder: Path) -> bool:
    return all((folder / "out/batch" / name).read_text() == text for name, text in TREE.items())


# What must come of `az storage <words>`: of its answer, and of the folder it works in.
CHECKS = {
    "container create": is_true("created"), "container exists": is_true("exists"),
    "container metadata update": done, "container metadata show": equals({"owner": "me"}),
    "container list": names("box"), "container policy create": done,
    "container policy list": lambda out, _: out["readers"]["permission"] == "r",
    "container lease acquire": equals(LEASE), "container lease release": done,
    "container generate-sas": is_sas, "container delete": is_true("deleted"),
    "blob upload": lambda out, _: bool(out["etag"]), "blob exists": is_true("exists"),
    "blob metadata update": done, "blob metadata show": equals({"kind": "note"}),
    "blob update": done, "blob set-tier": done,
    "blob show": lambda out, _: (
        out["properties"]["contentLength"], out["properties"]["blobTier"],
        out["properties"]["contentSettings"]["contentLanguage"],
    ) == (5, "Cool", "en"),
    "blob snapshot": lambda out, _: bool(out["snapshot"]),
    "blob list": names("hello.txt", "hello.txt", "log"),
    "blob download": lambda _, folder: (folder / "out/hello.txt").read_text() == "hello",
    "blob generate-sas": is_sas, "blob url": lambda out, _: out.endswith("/box/hello.txt"),
    "blob copy start": lambda out, _: out["copy_status"] == "success",
    "blob lease acquire": equals(LEASE), "blob lease break": equals(0),
    "blob upload-batch": lambda out, _: len(out) == len(TREE),
    "blob download-batch": batch_is_there, "blob delete-batch": done, "blob delete": done,
    "table create": is_true("created"), "table exists": is_true("exists"),
    "table list": names("People"), "table policy create": done,
    "table policy list": lambda out, _: out["readers"]["permission"] == "r",
    "table generate-sas": is_sas, "table delete": is_true("deleted"),
    "entity insert": lambda out, _: bool(out["etag"]), "entity merge": done, "entity replace": done,
    "entity show": lambda out, _: (out["Name"], out["Age"], out["City"]) == ("Ada", 36, "London"),
    "entity query": lambda out, _: [(e["Name"], "Age" in e) for e in out["items"]]
    == [("Grace", False)],
    "entity delete": done,
    "queue create": is_true("created"), "queue exists": is_true("exists"),
    "queue list": names("jobs"), "queue metadata update": done,
    "queue metadata show": equals({"kind": "test"}), "queue policy create": done,
    "queue generate-sas": is_sas, "queue delete": is_true("deleted"),
    "message put": lambda out, _: out["content"] == "first",
    "message peek": lambda out, _: [m["content"] for m in out] == ["first"],
    "message get": lambda out, _: out[0]["dequeueCount"] == 1,
    "message update": lambda out, _: out["content"] == "changed",
    "message delete": done, "message clear": done,
    "share create": is_true("created"), "share exists": is_true("exists"), "share update": done,
    "share metadata update": is_true("updated"),
    "share show": lambda out, _: out["properties"]["quota"] == 3,
    "share list": names("desk"), "share policy create": done, "share generate-sas": is_sas,
    "directory create": is_true("created"), "directory exists": is_true("exists"),
    "directory metadata update": done,
    "directory show": lambda out, _: out["metadata"] == {"kind": "test"},
    "directory list": names("papers"), "directory delete": is_true("deleted"),
    "file upload": lambda out, _: bool(out["etag"]), "file exists": is_true("exists"),
    "file metadata update": done, "file metadata show": equals({"kind": "note"}),
    "file update": done,
    "file show": lambda out, _: out["properties"]["contentSettings"]["contentLanguage"] == "en",
    "file list": names("a.txt"),
    "file download": lambda _, folder: (folder / "out/a.txt").read_text() == "hello",
    "file generate-sas": is_sas, "file url": lambda out, _: out.endswith("/desk/papers/a.txt"),
    "file copy start": lambda out, _: "success" in out.values(), "file resize": done,
    "file upload-batch": lambda out, _: len(out) == len(TREE),
    "file download-batch": batch_is_there, "file delete-batch": done,
    "share snapshot": lambda out, _: bool(out["snapshot"]), "share stats": equals("1"),
    "share list-handle": lambda out, _: out["items"] == [],
    "share close-handle": lambda out, _: out["closed_handles_count"] == 0,
    "file delete": done, "share delete": is_true("deleted"),
}  # fmt: skip


class Az:
    """The CLI, where it works, and what its last answers said."""

    def __init__(self, folder: Path) -> None:
        from azure.cli.core import get_default_cli

        self.cli, self.folder, self.said = get_default_cli(), folder, {}

    def run(self, line: str):
        words = shlex.split(line)[1:]
        words = [self.said.get(word.removeprefix("$"), word) for word in words]
        out = io.StringIO()
        code = self.cli.invoke(words, out_file=out)
        assert code == 0, f"{line}: {code}"
        text = out.getvalue()
        answer = json.loads(text) if text.strip() else None
        self.note(answer)
        return answer

    def note(self, answer) -> None:
        if isinstance(answer, str) and answer.startswith("http"):
            self.said["URL"] = answer
        message = answer[0] if isinstance(answer, list) and answer else answer
        if isinstance(message, dict) and message.get("popReceipt"):
            self.said |= {"ID": message["id"], "RECEIPT": message["popReceipt"]}


@pytest.fixture(scope="module")
def az(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("az")
    for name, text in TREE.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_text(text)
    (folder / "out").mkdir()
    ends = {"Blob": server.url, "Queue": server.queue_url, "Table": server.table_url,
            "File": server.file_url}  # fmt: skip
    endpoints = "".join(f"{name}Endpoint={url}/{DEV_ACCOUNT};" for name, url in ends.items())
    with pytest.MonkeyPatch.context() as here:
        here.setenv("AZURE_CONFIG_DIR", str(folder / "config"))
        here.setenv("AZURE_CORE_COLLECT_TELEMETRY", "no")
        here.setenv("AZURE_CORE_ONLY_SHOW_ERRORS", "yes")
        here.setenv(
            "AZURE_STORAGE_CONNECTION_STRING",
            f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};{endpoints}",
        )
        here.chdir(folder)
        yield Az(folder)


def words_of(line: str) -> str:
    return line.removeprefix("az storage ").split(" --")[0]


@pytest.mark.parametrize("line", lines())
def test_line(az, line):
    answer = az.run(line)
    assert CHECKS[words_of(line)](answer, az.folder), answer


def test_every_check_has_its_line():
    assert {words_of(line) for line in lines()} == set(CHECKS)


def test_the_program(az):
    program = Path(sys.executable).with_name("az")
    command = [program, "storage", "container", "create", "--name", "program"]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout) == {"created": True}, done.stderr
