"""What must never be in a log: keys, signatures, tokens, keys that customers bring.

The logs are those of every server of a traced suite, at TRACE.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from .signing import DEV_KEY

SECRETS = {
    "the account's key": re.compile(re.escape(DEV_KEY)),
    "the account's key, encoded": re.compile(re.escape(quote(DEV_KEY, safe=""))),
    "a signature in a query": re.compile(r"(?i)\bsig(?:=|\\?\"?: ?\\?\"|%3D)[A-Za-z0-9%+/_-]{12,}"),
    "a signature in a header": re.compile(r"Shared(?:Key|KeyLite) [\w-]+:[A-Za-z0-9+/]{12,}"),
    "a bearer token": re.compile(r"Bearer [A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\."),
    "a customer's key": re.compile(r"(?i)encryption-key\\?[\"':= ]+[A-Za-z0-9+/]{43}="),
    "a user delegation key": re.compile(r"<Value>[A-Za-z0-9+/]{43}=</Value>"),
}
# A suite whose servers say less than this at TRACE was not traced.
LEAST_BYTES = 10_000


def found_in(folder: Path) -> tuple[int, int, list[str]]:
    """(files, bytes, what was found and where, with the secret itself cut)."""
    files = size = 0
    found = []
    for path in sorted(folder.glob("*.log")):
        files, size = files + 1, size + path.stat().st_size
        with open(path, errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                for what, pattern in SECRETS.items():
                    if match := pattern.search(line):
                        before = line[max(0, match.start() - 60) : match.start() + 12]
                        found.append(f"{path.name}:{number}: {what}: …{before}…")
    return files, size, found
