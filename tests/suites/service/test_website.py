"""The static website: pages of $web on a host of their own."""

from __future__ import annotations

import http.client

import pytest

from harness import DEV_ACCOUNT

HOST = f"{DEV_ACCOUNT}.web.localhost"
PAGES = {
    "index.html": b"<h1>home</h1>",
    "docs/index.html": b"<h1>docs</h1>",
    "docs/a b.html": b"<h1>a b</h1>",
    "errors/404.html": b"<h1>lost</h1>",
}


def ask(server, method: str, path: str, headers: dict[str, str] | None = None, host: str = HOST):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request(method, path, headers={"Host": f"{host}:{server.port}", **(headers or {})})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply, body


def site(inside: str) -> str:
    return f"<StaticWebsite><Enabled>true</Enabled>{inside}</StaticWebsite>"


@pytest.fixture
def pages(client, set_properties):
    set_properties(site("<IndexDocument>index.html</IndexDocument>"
                        "<ErrorDocument404Path>errors/404.html</ErrorDocument404Path>")).expect(202)  # fmt: skip
    for name, body in PAGES.items():
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-blob-content-type": "text/html"}
        client.send("PUT", f"/$web/{name.replace(' ', '%20')}", "", headers, body).expect(201)


PATHS = [
    ("/", 200, "index.html"),
    ("", 200, "index.html"),
    ("/index.html", 200, "index.html"),
    ("/docs/", 200, "docs/index.html"),
    ("/docs/a%20b.html", 200, "docs/a b.html"),
    ("/docs", 404, "errors/404.html"),
    ("/none.html", 404, "errors/404.html"),
    ("/Index.html", 404, "errors/404.html"),
    ("/?comp=list&restype=container", 200, "index.html"),
    ("/index.html?sig=x&sv=2020-02-10", 200, "index.html"),
]


@pytest.mark.parametrize("host", [HOST, f"{DEV_ACCOUNT}.z6.web.core.windows.net"])
@pytest.mark.parametrize(("path", "status", "blob"), PATHS)
def test_paths(server, pages, path, status, blob, host):
    reply, body = ask(server, "GET", path, host=host)
    assert (reply.status, body) == (status, PAGES[blob])
    assert reply.headers["content-type"] == "text/html"
    assert "x-ms-blob-type" not in reply.headers
    reply, body = ask(server, "HEAD", path, host=host)
    assert (reply.status, body) == (status, b"")
    assert reply.headers["content-length"] == str(len(PAGES[blob]))


def test_conditions_and_ranges(server, pages):
    reply, _ = ask(server, "GET", "/")
    tag = reply.headers["etag"]
    assert ask(server, "GET", "/", {"If-None-Match": tag})[0].status == 304
    reply, body = ask(server, "GET", "/", {"Range": "bytes=4-7"})
    assert (reply.status, body) == (206, b"home")


def test_a_default_page_for_every_path(server, pages, set_properties):
    set_properties(site("<DefaultIndexDocumentPath>docs/index.html</DefaultIndexDocumentPath>")).expect(202)
    for path in ("/", "/any/route", "/none"):
        reply, body = ask(server, "GET", path)
        assert (reply.status, body) == (200, PAGES["docs/index.html"])
    assert ask(server, "GET", "/errors/404.html")[1] == PAGES["errors/404.html"]


def test_without_an_error_page(server, pages, set_properties):
    set_properties(site("")).expect(202)
    for path in ("/", "/none"):
        reply, body = ask(server, "GET", path)
        assert reply.status == 404
        assert reply.headers["x-ms-error-code"] == "WebContentNotFound"
        assert b"The requested content does not exist." in body


def test_switched_off(server, client, pages, plain, set_properties):
    set_properties("<StaticWebsite><Enabled>false</Enabled></StaticWebsite>").expect(202)
    assert ask(server, "GET", "/")[0].status == 404
    # The pages are still there for their owner, and for nobody else.
    client.get("/$web/index.html").expect(200)
    client.send("GET", "/$web/index.html", auth="none").expect((401, 404))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST"])
def test_pages_can_only_be_read(server, client, pages, method):
    reply, _ = ask(server, method, "/index.html", {"Content-Length": "0"})
    assert reply.status == 405
    client.get("/$web/index.html").expect(200)


def test_other_accounts_have_no_site(server, pages):
    assert ask(server, "GET", "/", host="nobody.web.localhost")[0].status == 404
