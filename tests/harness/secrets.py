"""What must never be in a log: keys, their NT hashes, signatures, tokens, keys that customers bring, sessions' keys.

The logs are those of every server of a traced suite, at TRACE.
"""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path
from urllib.parse import quote

from .signing import DEV_KEY



def md4(data: bytes) -> bytes:
    """RFC 1320; OpenSSL does not have it any more."""
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + struct.pack("<Q", 8 * len(data))
    rounds = (
        (lambda x, y, z: (x & y) | (~x & z), 0, range(16), (3, 7, 11, 19)),
        (lambda x, y, z: (x & y) | (x & z) | (y & z), 0x5A827999,
         (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), (3, 5, 9, 13)),
        (lambda x, y, z: x ^ y ^ z, 0x6ED9EBA1,
         (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), (3, 9, 11, 15)),
    )  # fmt: skip
    for start in range(0, len(padded), 64):
        words = struct.unpack("<16I", padded[start : start + 64])
        a, b, c, d = state
        for mix, constant, order, shifts in rounds:
            for step, word in enumerate(order):
                total = (a + mix(b, c, d) + words[word] + constant) & 0xFFFFFFFF
                shift = shifts[step % 4]
                a, b, c, d = d, (total << shift | total >> (32 - shift)) & 0xFFFFFFFF, b, c
        state = [(old + new) & 0xFFFFFFFF for old, new in zip(state, (a, b, c, d), strict=True)]
    return struct.pack("<4I", *state)


def spelled(secret: bytes) -> re.Pattern[str]:
    """Bytes in any of the ways that a log may have them: hexadecimal, base64, a list of numbers."""
    numbers = r",\s*".join(map(str, secret))
    hexed = r"[\s:,]*".join(f"{byte:02x}" for byte in secret)
    return re.compile(f"(?i){hexed}|\\b{numbers}\\b|(?-i:{re.escape(base64.b64encode(secret).decode())})")


# What SMB checks a password by; the account's key is the password.
NT_HASH = md4(DEV_KEY.encode("utf-16-le"))
SECRETS = {
    "the account's key": re.compile(re.escape(DEV_KEY)),
    "the account's key, encoded": re.compile(re.escape(quote(DEV_KEY, safe=""))),
    "the account's key, as bytes": spelled(base64.b64decode(DEV_KEY)),
    "the account's NT hash": spelled(NT_HASH),
    "a key or hash of a session": re.compile(
        r"(?i)(?:session|signing|sealing|encryption|decryption|exported|base|nt)[_ -]?(?:key|hash)\W{1,8}(?:\d+, ?\d+, ?\d+|[0-9a-f]{32})"
    ),
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
