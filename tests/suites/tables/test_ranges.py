"""Every row of the range table over HTTP, with x-ms-range and with Range."""

from __future__ import annotations

import pytest
from cells import label, rows

ROWS = [(row, header) for row in rows("ranges") for header in ("x-ms-range", "Range")]


@pytest.fixture(scope="module")
def box(client) -> str:
    client.create_container("rangecells")
    for length in {int(row["length"]) for row, _ in ROWS}:
        client.put(f"/rangecells/{length}", bytes(range(length))).expect(201)
    return "/rangecells"


@pytest.mark.parametrize(
    ("row", "header"), ROWS, ids=[f"{h}-{label(r, 'version', 'range', 'length')}" for r, h in ROWS]
)
def test_range(client, box, row, header):
    length = int(row["length"])
    headers = {} if row["range"] == "-" else {header: row["range"].replace("|", ",")}
    version = None if row["version"] == "latest" else row["version"]
    answer = client.get(f"{box}/{length}", headers, version=version)
    answer.expect(int(row["status"]), "InvalidRange" if row["status"] == "416" else None)
    whole = bytes(range(length))
    if row["status"] == "206":
        first, last = int(row["first"]), int(row["last"])
        assert answer.headers["content-range"] == f"bytes {first}-{last}/{length}"
        assert answer.body == whole[first : last + 1]
    elif row["status"] == "200":
        assert answer.body == whole
        assert "content-range" not in answer.headers
    else:
        assert answer.headers["content-range"] == f"bytes */{length}"
