"""Bad credentials as data: what an attacker or a mistaken client sends, and what comes back.

A row is (name, what to do to a good request, statuses, codes). The doings are functions of
credentials.py's `Attempt`; the codes are those of the protocol's table of failures.
"""

from __future__ import annotations

from harness import account_sas, service_sas
from harness.signing import iso_time

FAILED, MALFORMED = "AuthenticationFailed", "InvalidAuthenticationInfo"
PERMISSION, ANY = "AuthorizationPermissionMismatch", "*"


def authorization(value: str):
    return lambda a: a.headers.update(Authorization=value)


def sas(token: str, target: str | None = None, method: str = "GET"):
    def change(attempt) -> None:
        attempt.unsigned()
        attempt.method = method
        attempt.target = target or attempt.target
        joint = "&" if "?" in attempt.target else "?"
        attempt.target += joint + token.replace("{c}", attempt.container)

    return change


def blob_sas(method: str = "GET", **fields):
    """A service SAS for the blob `b`, made when the container's name is known."""

    def change(attempt) -> None:
        token = service_sas(attempt.container, "b", **fields)
        sas(token, method=method)(attempt)

    return change


def tampered(name: str, value: str, **fields):
    """A good SAS whose parameter is changed after signing; None removes it."""

    def change(attempt) -> None:
        token = service_sas(attempt.container, "b", **{"permissions": "r", **fields})
        parts = dict(p.split("=", 1) for p in token.split("&"))
        if value is None:
            parts.pop(name, None)
        else:
            parts[name] = value
        sas("&".join(f"{k}={v}" for k, v in parts.items()))(attempt)

    return change


def after_signing(what):
    """Changes the request once it is signed."""

    def change(attempt) -> None:
        attempt.sign()
        what(attempt)

    return change


ROWS = [
    # Authorization header (6.6)
    ("no credentials", lambda a: a.unsigned(), 401, "NoAuthenticationInformation"),
    ("empty header", authorization(""), (400, 401), ANY),
    ("one word", authorization("Nonsense"), 400, MALFORMED),
    ("basic", authorization("Basic dXNlcjpwYXNz"), 400, MALFORMED),
    ("bearer over http", authorization("Bearer abc"), (400, 401), MALFORMED),
    ("scheme alone", authorization("SharedKey"), (400, 403), (MALFORMED, FAILED)),
    ("no colon", authorization("SharedKey devstoreaccount1"), (400, 403), (MALFORMED, FAILED)),
    ("no account", authorization("SharedKey :abcd"), (400, 403), (MALFORMED, FAILED)),
    ("no signature", authorization("SharedKey devstoreaccount1:"), (400, 403), (MALFORMED, FAILED)),
    ("not base64", authorization("SharedKey devstoreaccount1:!!!"),
     (400, 403), (MALFORMED, FAILED)),
    ("random signature", authorization("SharedKey devstoreaccount1:" + "A" * 43 + "="),
     403, FAILED),
    ("other account", authorization("SharedKey somebody:" + "A" * 43 + "="), 403, FAILED),
    ("signature of 1 MiB", authorization("SharedKey devstoreaccount1:" + "A" * 8000), (400, 403),
     (MALFORMED, FAILED)),
    ("wrong key", lambda a: a.sign(key="d3Jvbmc="), 403, FAILED),
    ("lite under the full name", lambda a: a.sign(lite_as_full=True), 403, FAILED),
    # A signed request that was changed on the way
    ("method changed", after_signing(lambda a: setattr(a, "method", "HEAD")), 403, ANY),
    ("path changed", after_signing(lambda a: setattr(a, "target", a.target + "x")), 403, FAILED),
    ("parameter added", after_signing(lambda a: setattr(a, "target", a.target + "?comp=metadata")),
     403, FAILED),
    ("header added", after_signing(lambda a: a.headers.update({"x-ms-meta-a": "1"})), 403, FAILED),
    ("header changed", after_signing(lambda a: a.headers.update({"x-ms-version": "2019-12-12"})),
     403, FAILED),
    ("range added", after_signing(lambda a: a.headers.update({"Range": "bytes=0-1"})), 403, FAILED),
    ("condition added", after_signing(lambda a: a.headers.update({"If-Match": '"a"'})),
     403, FAILED),
    ("date removed", after_signing(lambda a: a.headers.pop("x-ms-date")), 403, FAILED),
    # Service SAS (6.4, 6.6)
    ("sas of another blob", lambda a: sas(service_sas(a.container, "other"))(a), 403, FAILED),
    ("sas of another container", lambda a: sas(service_sas("other", "b"))(a), 403, FAILED),
    ("container sas of another", lambda a: sas(service_sas("other"))(a), 403, FAILED),
    ("sas expired", blob_sas(expiry=iso_time(-60)), 403, FAILED),
    ("sas not yet", blob_sas(start=iso_time(600)), 403, FAILED),
    ("sas expiry nonsense", blob_sas(expiry="tomorrow"), 403, FAILED),
    ("sas start nonsense", blob_sas(start="yesterday"), 403, FAILED),
    ("sas of another address", blob_sas(ip="10.1.2.3"), 403, "AuthorizationSourceIPMismatch"),
    ("sas of an address range", blob_sas(ip="10.0.0.0-10.0.0.9"), 403,
     "AuthorizationSourceIPMismatch"),
    ("sas address nonsense", blob_sas(ip="nowhere"), 403, ANY),
    ("sas for https", blob_sas(protocol="https"), 403, "AuthorizationProtocolMismatch"),
    ("sas protocol nonsense", blob_sas(protocol="gopher"), 403, ANY),
    ("sas lacks delete", blob_sas(permissions="r", method="DELETE"), 403, PERMISSION),
    ("sas lacks read", blob_sas(permissions="w"), 403, PERMISSION),
    ("sas without permissions", blob_sas(permissions=""), 403, ANY),
    ("sas unknown policy", blob_sas(identifier="nobody", permissions="", expiry=""), 403, FAILED),
    ("sas snapshot on base", blob_sas(resource="bs", snapshot="2024-01-01T00:00:00.0000000Z"), 403,
     FAILED),
    ("sas resource nonsense", blob_sas(resource="x"), 403, ANY),
    ("sas permission raised", tampered("sp", "rwd"), 403, FAILED),
    ("sas expiry moved", tampered("se", "2099-01-01T00%3A00%3A00Z"), 403, FAILED),
    ("sas version changed", tampered("sv", "2015-04-05"), 403, FAILED),
    ("sas version nonsense", tampered("sv", "nonsense"), (400, 403), ANY),
    ("sas version removed", tampered("sv", None), 403, FAILED),
    ("sas expiry removed", tampered("se", None), 403, FAILED),
    ("sas permission removed", tampered("sp", None), 403, FAILED),
    ("sas signature removed", tampered("sig", None), (401, 403), ANY),
    ("sas signature empty", tampered("sig", ""), 403, FAILED),
    ("sas signature nonsense", tampered("sig", "nonsense"), 403, FAILED),
    ("sas resource removed", tampered("sr", None), 403, FAILED),
    ("sas resource widened", tampered("sr", "c"), 403, FAILED),
    ("sas override added", tampered("rsct", "text%2Fhtml"), 403, FAILED),
    ("sas address removed", tampered("sip", None, ip="10.1.2.3"), 403, FAILED),
    # Account SAS (6.3, 6.6)
    ("account sas other service", sas(account_sas(services="q")), 403,
     "AuthorizationServiceMismatch"),
    ("account sas other level", sas(account_sas(resource_types="s")), 403,
     "AuthorizationResourceTypeMismatch"),
    ("account sas lacks read", sas(account_sas(permissions="w")), 403, PERMISSION),
    ("account sas lacks delete", sas(account_sas(permissions="r"), method="DELETE"),
     403, PERMISSION),
    ("account sas expired", sas(account_sas(expiry=iso_time(-60))), 403, FAILED),
    ("account sas of another address", sas(account_sas(ip="10.1.2.3")), 403,
     "AuthorizationSourceIPMismatch"),
    ("account sas for https", sas(account_sas(protocol="https")), 403,
     "AuthorizationProtocolMismatch"),
    ("account sas tampered", sas(account_sas(permissions="r").replace("sp=r", "sp=rwd")),
     403, FAILED),
    ("account sas too old a version", sas(account_sas(version="2014-02-14")), 403, ANY),
    ("account sas reads acl", sas(account_sas(), "/{c}?restype=container&comp=acl"), 403,
     "AuthorizationFailure"),
    ("service sas reads container", lambda a: sas(
        service_sas(a.container, permissions="rwdl"), "/{c}?restype=container")(a), 403, ANY),
    ("service sas lists account", lambda a: sas(
        service_sas(a.container, permissions="rwdl"), "/?comp=list")(a), 403, ANY),
    ("service sas deletes container", lambda a: sas(
        service_sas(a.container, permissions="rwdl"), "/{c}?restype=container", "DELETE")(a),
     403, ANY),
]  # fmt: skip
