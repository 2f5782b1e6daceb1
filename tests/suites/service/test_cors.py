"""CORS as tables: rules, what is asked, what the answer's headers say."""

from __future__ import annotations

import pytest

ALLOW = "access-control-allow-origin"
EXPOSE = "access-control-expose-headers"
CREDENTIALS = "access-control-allow-credentials"


def rule(origins: str, methods: str, allowed: str = "", exposed: str = "", age: int = 9) -> str:
    return (
        f"<CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}"
        f"</AllowedMethods><AllowedHeaders>{allowed}</AllowedHeaders><ExposedHeaders>{exposed}"
        f"</ExposedHeaders><MaxAgeInSeconds>{age}</MaxAgeInSeconds></CorsRule>"
    )


EXACT = rule("http://a.com", "GET,PUT", "x-ms-*,content-type", "x-ms-meta-abc,x-ms-req*")
WILD = rule("*", "GET,HEAD", "", "etag")
SUBDOMAIN = rule("https://*.b.com", "GET")

# rules, method, Origin -> Vary, Allow-Origin, Expose contains, Credentials
ACTUAL = [
    ([], "GET", None, None, None, None, None),
    ([], "GET", "http://a.com", None, None, None, None),
    ([EXACT], "GET", None, "Origin", None, None, None),
    ([WILD], "GET", None, None, "*", "etag", None),
    ([WILD], "HEAD", None, None, "*", "etag", None),
    ([EXACT], "GET", "http://a.com", "Origin", "http://a.com", "x-ms-meta-abc", "true"),
    ([EXACT], "GET", "http://a.com", "Origin", "http://a.com", "x-ms-request-id", "true"),
    ([EXACT], "GET", "http://A.com", "Origin", None, None, None),
    ([EXACT], "HEAD", "http://a.com", "Origin", None, None, None),
    ([EXACT], "PUT", "http://a.com", None, "http://a.com", "x-ms-meta-abc", "true"),
    ([EXACT], "PUT", "http://b.com", None, None, None, None),
    ([WILD], "GET", "http://x", None, "*", "etag", None),
    ([WILD], "PUT", "http://x", None, None, None, None),
    ([EXACT, WILD], "GET", "http://a.com", "Origin", "http://a.com", "x-ms-meta-abc", "true"),
    ([EXACT, WILD], "GET", "http://c.com", None, "*", "etag", None),
    ([WILD, EXACT], "GET", "http://a.com", None, "*", "etag", None),
    ([SUBDOMAIN], "GET", "https://x.b.com", "Origin", "https://x.b.com", None, "true"),
    ([SUBDOMAIN], "GET", "https://b.com", "Origin", None, None, None),
    ([SUBDOMAIN], "GET", "http://x.b.com", "Origin", None, None, None),
]


@pytest.mark.parametrize("exists", [True, False], ids=["success", "error"])
@pytest.mark.parametrize("row", range(len(ACTUAL)))
def test_actual_requests(client, container, set_properties, row, exists):
    rules, method, origin, vary, allow, exposed, credentials = ACTUAL[row]
    set_properties(f"<Cors>{''.join(rules)}</Cors>").expect(202)
    path = f"/{container}/b"
    put = {"x-ms-blob-type": "BlockBlob"}
    client.send("PUT", path, "", put, b"x").expect(201)
    headers = {"Origin": origin} if origin else {}
    if method == "PUT":
        target = path if exists else "/nothere/b"
        reply = client.send("PUT", target, "", {**put, **headers}, b"x").expect((201, 404))
    else:
        target = path if exists else f"/{container}/none"
        reply = client.send(method, target, "", headers).expect((200, 404))
    assert (reply.status < 300) == exists
    assert reply.headers.get("vary") == vary
    assert reply.headers.get(ALLOW) == allow
    assert reply.headers.get(CREDENTIALS) == credentials
    found = reply.headers.get(EXPOSE)
    assert (found is None) if exposed is None else (exposed in found.split(",")), found


# rules, Origin, method, headers -> status, Allow-Origin
PREFLIGHT = [
    ([], "http://a.com", "GET", None, 403, None),
    ([EXACT], "http://a.com", "PUT", None, 200, "http://a.com"),
    ([EXACT], "http://a.com", "PUT", "x-ms-date, Content-Type", 200, "http://a.com"),
    ([EXACT], "http://a.com", "PUT", "x-ms-date,etag", 403, None),
    ([EXACT], "http://a.com", "DELETE", None, 403, None),
    ([EXACT], "http://b.com", "PUT", None, 403, None),
    ([WILD], "http://b.com", "GET", None, 200, "*"),
    ([WILD], "http://b.com", "GET", "x-ms-date", 403, None),
    ([EXACT, rule("*", "GET", "*")], "http://a.com", "GET", "etag", 403, None),
    ([EXACT, rule("*", "GET", "*")], "http://c.com", "GET", "etag", 200, "*"),
    ([SUBDOMAIN], "https://x.y.b.com", "GET", None, 200, "https://x.y.b.com"),
    ([WILD], None, "GET", None, 400, None),
    ([WILD], "http://b.com", None, None, 400, None),
]


@pytest.mark.parametrize("row", range(len(PREFLIGHT)))
@pytest.mark.parametrize("path", ["/", "/nothere/none", "/Not//Legal_"])
def test_preflights(client, set_properties, row, path):
    rules, origin, method, headers, status, allow = PREFLIGHT[row]
    set_properties(f"<Cors>{''.join(rules)}</Cors>").expect(202)
    sent = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": headers,
    }
    sent = {name: value for name, value in sent.items() if value is not None}
    reply = client.send("OPTIONS", path, "", sent, auth="none")
    codes = {403: "CorsPreflightFailure", 400: "InvalidHeaderValue"}
    reply.expect(status, codes.get(status))
    assert reply.headers.get(ALLOW) == allow
    if status == 200:
        assert reply.headers["access-control-allow-methods"] == method
        assert reply.headers.get("access-control-allow-headers") == headers
        assert reply.headers["access-control-max-age"] == "9"
        assert reply.headers.get(CREDENTIALS) == (None if allow == "*" else "true")
    if status == 400:
        assert b"A required CORS header is not present." in reply.body
