"""Shared-key and SAS signatures, written from the protocol's description.

Independent of the SDKs on purpose: they could share a mistake with the server only by accident.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, unquote

DEV_ACCOUNT = "devstoreaccount1"
DEV_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

# Lines of the SharedKey string that carry a standard header, in their order.
STANDARD_LINES = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


def http_date(offset_seconds: float = 0.0) -> str:
    now = datetime.now(UTC) + timedelta(seconds=offset_seconds)
    return now.strftime("%a, %d %b %Y %H:%M:%S GMT")


def iso_time(offset_seconds: float = 0.0) -> str:
    now = datetime.now(UTC) + timedelta(seconds=offset_seconds)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def mac(key: str, text: str) -> str:
    digest = hmac.new(base64.b64decode(key), text.encode("utf-8"), hashlib.sha256).digest()
    return base64.b64encode(digest).decode("ascii")


def canonical_headers(headers: dict[str, str], version: str) -> str:
    rows = []
    for name, value in headers.items():
        name = name.lower()
        if not name.startswith("x-ms-"):
            continue
        value = re.sub(r"\s+", " ", value).strip()
        # Versions before 2016-05-31 leave empty headers out of the string.
        if value or version >= "2016-05-31":
            rows.append((name, value))
    return "".join(f"{name}:{value}\n" for name, value in sorted(rows))


def canonical_resource(account: str, path: str, query: str) -> str:
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(query.replace("+", "%2B"), keep_blank_values=True):
        values.setdefault(name.lower(), []).append(value)
    rows = [f"\n{name}:{','.join(sorted(values[name]))}" for name in sorted(values)]
    return f"/{account}{path or '/'}" + "".join(rows)


def canonical_resource_lite(account: str, path: str, query: str) -> str:
    comp = [v for n, v in parse_qsl(query, keep_blank_values=True) if n.lower() == "comp"]
    return f"/{account}{path or '/'}" + (f"?comp={comp[0]}" if comp else "")


def shared_key(
    method: str, path: str, query: str, headers: dict[str, str], account: str, key: str
) -> str:
    """Value of the Authorization header; the rules follow the request's own x-ms-version."""
    given = {name.lower(): value for name, value in headers.items()}
    version = given.get("x-ms-version", "")
    lines = [method]
    for name in STANDARD_LINES:
        value = given.get(name, "")
        if name == "content-length" and value == "0" and version >= "2015-02-21":
            value = ""
        if name == "date" and "x-ms-date" in given:
            value = ""
        lines.append(value)
    text = "\n".join(lines) + "\n"
    text += canonical_headers(headers, version) + canonical_resource(account, path, query)
    return f"SharedKey {account}:{mac(key, text)}"


def shared_key_lite(
    method: str, path: str, query: str, headers: dict[str, str], account: str, key: str
) -> str:
    given = {name.lower(): value for name, value in headers.items()}
    date = "" if "x-ms-date" in given else given.get("date", "")
    lines = [method, given.get("content-md5", ""), given.get("content-type", ""), date]
    text = "\n".join(lines) + "\n"
    text += canonical_headers(headers, given.get("x-ms-version", ""))
    text += canonical_resource_lite(account, path, query)
    return f"SharedKeyLite {account}:{mac(key, text)}"


def _query(fields: dict[str, str]) -> str:
    return "&".join(f"{k}={quote(v, safe='')}" for k, v in fields.items() if v != "")


def account_sas(
    permissions: str = "rwdlac",
    services: str = "b",
    resource_types: str = "sco",
    *,
    start: str = "",
    expiry: str | None = None,
    ip: str = "",
    protocol: str = "",
    version: str = "2022-11-02",
    scope: str = "",
    account: str = DEV_ACCOUNT,
    key: str = DEV_KEY,
) -> str:
    expiry = iso_time(3600) if expiry is None else expiry
    lines = [account, permissions, services, resource_types, start, expiry, ip, protocol, version]
    if version >= "2020-12-06":
        lines.append(scope)
    signature = mac(key, "\n".join(lines) + "\n")
    return _query(
        {
            "sv": version, "ss": services, "srt": resource_types, "sp": permissions,
            "st": start, "se": expiry, "sip": ip, "spr": protocol, "ses": scope,
            "sig": signature,
        }
    )  # fmt: skip


def service_sas(
    container: str,
    blob: str | None = None,
    *,
    permissions: str = "r",
    start: str = "",
    expiry: str | None = None,
    identifier: str = "",
    ip: str = "",
    protocol: str = "",
    version: str = "2022-11-02",
    resource: str | None = None,
    snapshot: str = "",
    scope: str = "",
    overrides: dict[str, str] | None = None,
    account: str = DEV_ACCOUNT,
    key: str = DEV_KEY,
) -> str:
    """A service SAS in the layout of its `sv`; `overrides` are rscc, rscd, rsce, rscl, rsct."""
    expiry = iso_time(3600) if expiry is None else expiry
    resource = resource or ("c" if blob is None else "b")
    over = overrides or {}
    canon = ("/blob" if version >= "2015-02-21" else "") + f"/{account}/{container}"
    canon += "" if blob is None else f"/{blob}"
    lines = [permissions, start, expiry, canon, identifier]
    if version >= "2015-04-05":
        lines += [ip, protocol]
    if version >= "2012-02-12":
        lines.append(version)
    if version >= "2018-11-09":
        lines += [resource, snapshot]
    if version >= "2020-12-06":
        lines.append(scope)
    if version >= "2013-08-15":
        lines += [over.get(name, "") for name in ("rscc", "rscd", "rsce", "rscl", "rsct")]
    return _query(
        {
            "sv": version, "sr": resource, "sp": permissions, "st": start, "se": expiry,
            "si": identifier, "sip": ip, "spr": protocol, "ses": scope, **over,
            "sig": mac(key, "\n".join(lines)),
        }
    )  # fmt: skip


def decoded(path: str) -> str:
    return unquote(path)
