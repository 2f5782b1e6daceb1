"""Spans as a collector receives them."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobServiceClient

from harness import DEV_ACCOUNT, DEV_KEY, Server

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector(BaseHTTPRequestHandler):
    received: list[tuple[str, dict, dict]] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.received.append((self.path, dict(self.headers), body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def spans() -> list[dict]:
    scopes = [s for _, _, body in Collector.received for s in body["resourceSpans"][0]["scopeSpans"]]
    return [span for scope in scopes for span in scope["spans"]]


def test_a_collector_receives_spans():
    collector = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-token=abc",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
        "OTEL_SERVICE_NAME": "storage",
    }
    with Server(env=environment) as server:
        service = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=DEV_KEY)
        parent = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        container = service.create_container("traced", headers=parent)
        silent = {"traceparent": f"00-{TRACE}-{PARENT}-00"}
        container.get_container_properties(headers=silent)
        with pytest.raises(ResourceNotFoundError):
            container.get_blob_client("none").get_blob_properties()
        deadline = time.monotonic() + 20
        while len(spans()) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    collector.shutdown()
    path, headers, body = Collector.received[0]
    assert path == "/v1/traces" and headers["x-token"] == "abc"
    resource = {
        a["key"]: a["value"]["stringValue"]
        for a in body["resourceSpans"][0]["resource"]["attributes"]
    }
    assert resource == {"deployment.environment": "test", "service.name": "storage"}
    first, second = spans()
    assert (first["traceId"], first["parentSpanId"]) == (TRACE, PARENT)
    assert first["name"] == "Blob CreateContainer" and first["kind"] == 2
    assert int(first["startTimeUnixNano"]) <= int(first["endTimeUnixNano"])
    assert abs(int(first["endTimeUnixNano"]) / 1e9 - time.time()) < 60
    assert second["name"] == "Blob GetBlobProperties" and second["traceId"] != TRACE
    said = {a["key"]: next(iter(a["value"].values())) for a in second["attributes"]}
    assert said["http.response.status_code"] == "404"
    assert said["url.path"] == f"/{DEV_ACCOUNT}/traced/none"
