"""Service SAS of queues, tables and files, written from the protocol's description."""

from __future__ import annotations

from .signing import DEV_ACCOUNT, DEV_KEY, _query, iso_time, mac, service_sas

VERSION = "2022-11-02"


def service_token(
    service: str,
    box: str,
    item: str | None,
    permissions: str,
    *,
    start: str = "",
    expiry: str | None = None,
    ip: str = "",
    protocol: str = "",
    key: str = DEV_KEY,
) -> str:
    """A token for a container, queue, table or share, or for one thing in it."""
    expiry = iso_time(3600) if expiry is None else expiry
    common = {"start": start, "expiry": expiry, "ip": ip, "protocol": protocol, "key": key}
    if service == "blob":
        return service_sas(box, item, permissions=permissions, **common)
    name = box.lower() if service == "table" else box
    canon = f"/{service}/{DEV_ACCOUNT}/{name}" + (f"/{item}" if item else "")
    lines = [permissions, start, expiry, canon, "", ip, protocol, VERSION]
    fields = {"sv": VERSION, "sp": permissions, "st": start, "se": expiry, "sip": ip, "spr": protocol}
    if service == "table":
        lines += ["", "", "", ""]
        fields["tn"] = box
    if service == "file":
        lines += [""] * 5
        fields["sr"] = "f" if item else "s"
    return _query({**fields, "sig": mac(key, "\n".join(lines))})
