"""Service properties, stats and account information through the Python SDK and on the wire."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest
from azure.storage.blob import (
    BlobAnalyticsLogging,
    CorsRule,
    Metrics,
    RetentionPolicy,
    StaticWebsite,
)

from harness import Client, Server

PROPERTIES = "restype=service&comp=properties"


def test_defaults(service):
    found = service.get_service_properties()
    assert found["analytics_logging"].version == "1.0"
    assert not found["analytics_logging"].read
    assert not found["hour_metrics"].enabled
    assert not found["minute_metrics"].enabled
    assert found["cors"] == []
    assert not found["delete_retention_policy"].enabled
    assert not found["static_website"].enabled
    assert found["target_version"] is None


def test_everything_comes_back(service):
    keep = RetentionPolicy(enabled=True, days=5)
    service.set_service_properties(
        analytics_logging=BlobAnalyticsLogging(
            version="2.0", read=True, write=True, delete=False, retention_policy=keep
        ),
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=keep),
        minute_metrics=Metrics(enabled=True, include_apis=False),
        cors=[
            CorsRule(["http://a.com", "http://b.com"], ["GET", "PUT"]),
            CorsRule(
                ["*"],
                ["DELETE"],
                allowed_headers=["x-ms-meta-*", "etag"],
                exposed_headers=["*"],
                max_age_in_seconds=60,
            ),
        ],
        static_website=StaticWebsite(
            enabled=True, index_document="index.html", error_document404_path="errors/404.html"
        ),
    )
    found = service.get_service_properties()
    logging = found["analytics_logging"]
    assert (logging.version, logging.read, logging.write, logging.delete) == ("2.0", True, True, False)
    assert (logging.retention_policy.enabled, logging.retention_policy.days) == (True, 5)
    assert found["hour_metrics"].include_apis and not found["minute_metrics"].include_apis
    assert [rule.allowed_origins for rule in found["cors"]] == ["http://a.com,http://b.com", "*"]
    assert found["cors"][1].allowed_headers == "etag,x-ms-meta-*"
    assert found["cors"][1].max_age_in_seconds == 60
    site = found["static_website"]
    assert (site.index_document, site.error_document404_path) == ("index.html", "errors/404.html")


def test_what_is_left_out_stays(service, set_properties):
    service.set_service_properties(cors=[CorsRule(["*"], ["GET"])])
    service.set_service_properties(static_website=StaticWebsite(enabled=True, index_document="i"))
    found = service.get_service_properties()
    assert len(found["cors"]) == 1
    assert found["static_website"].enabled
    service.set_service_properties(cors=[])
    found = service.get_service_properties()
    assert found["cors"] == []
    assert found["static_website"].enabled


def test_properties_survive_a_restart():
    document = (
        "<StorageServiceProperties><DefaultServiceVersion>2020-02-10</DefaultServiceVersion>"
        "</StorageServiceProperties>"
    )
    with Server() as own:
        Client(own.url).send("PUT", "/", PROPERTIES, body=document).expect(202)
        before = Client(own.url).get("/", query=PROPERTIES).expect(200).body
        own.kill()
        own.start()
        assert Client(own.url).get("/", query=PROPERTIES).expect(200).body == before
    assert b"2020-02-10" in before


LOGGING = (
    "<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>"
    "<RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>"
)
RULE = (
    "<CorsRule><AllowedMethods>GET</AllowedMethods><AllowedOrigins>*</AllowedOrigins>"
    "<AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule>"
)
DAYS = "Retention days must be greater than 0 and less than or equal to 365 days."
BAD = [
    ("no days", LOGGING.replace("<Days>7</Days>", ""), "InvalidXmlDocument", "Element is missing: Days."),
    ("zero days", LOGGING.replace(">7<", ">0<"), "InvalidXmlDocument", DAYS),
    ("366 days", LOGGING.replace(">7<", ">366<"), "InvalidXmlDocument", DAYS),
    ("no Write", LOGGING.replace("<Write>false</Write>", ""), "InvalidXmlDocument", "Write"),
    ("a bad flag", LOGGING.replace("<Read>false", "<Read>yes"), "InvalidXmlNodeValue", "Read"),
    ("a bad version", LOGGING.replace("1.0", "9.0"), "InvalidXmlNodeValue", "Version"),
    ("six rules", f"<Cors>{RULE * 6}</Cors>", "InvalidXmlDocument", "5"),
    ("a bad verb", f"<Cors>{RULE}</Cors>".replace("GET", "FETCH"), "InvalidXmlDocument", "Methods"),
    ("a long origin", f"<Cors>{RULE}</Cors>".replace("*", "o" * 257), "InvalidXmlDocument", "256"),
    ("65 origins", f"<Cors>{RULE}</Cors>".replace("*", ",".join("abcdefghijklm" * 5)), "InvalidXmlDocument", "64"),
    ("a negative age", f"<Cors>{RULE}</Cors>".replace(">1<", ">-1<"), "InvalidXmlNodeValue", "MaxAge"),
    ("two indexes", "<StaticWebsite><Enabled>true</Enabled><IndexDocument>a</IndexDocument>"
     "<DefaultIndexDocumentPath>b</DefaultIndexDocumentPath></StaticWebsite>", "InvalidXmlDocument", "Index"),
    ("an unknown element", "<Else/>", "InvalidXmlDocument", "Else"),
    ("text", "text", "InvalidXmlDocument", "Text"),
    ("not closed", "<Cors>", "InvalidXmlDocument", ""),
]  # fmt: skip


@pytest.mark.parametrize(("what", "inside", "code", "says"), BAD, ids=[row[0] for row in BAD])
def test_bad_documents_change_nothing(client, set_properties, what, inside, code, says):
    before = client.get("/", query=PROPERTIES).expect(200).body
    reply = set_properties(inside).expect(400, code)
    assert says in reply.body.decode()
    assert client.get("/", query=PROPERTIES).expect(200).body == before


def test_an_empty_body_is_refused(client):
    client.send("PUT", "/", PROPERTIES).expect(400, "InvalidXmlDocument")


@pytest.mark.parametrize(
    ("version", "shown", "hidden"),
    [
        ("2012-02-12", ["<Metrics>"], ["HourMetrics", "Cors", "DeleteRetentionPolicy"]),
        ("2015-02-21", ["HourMetrics", "<Cors />"], ["DeleteRetentionPolicy", "StaticWebsite"]),
        ("2017-07-29", ["DeleteRetentionPolicy"], ["StaticWebsite", "AllowPermanentDelete"]),
        ("2018-03-28", ["StaticWebsite"], ["AllowPermanentDelete"]),
        ("2020-02-10", ["AllowPermanentDelete"], []),
    ],
)
def test_each_version_shows_its_elements(client, version, shown, hidden):
    text = client.get("/", query=PROPERTIES, version=version).expect(200).body.decode()
    assert all(part in text for part in shown), text
    assert not any(part in text for part in hidden), text


def test_a_default_version_is_used_by_whoever_names_none(client, container, set_properties):
    headers = {"x-ms-version": None}
    path = f"/{container}/b"
    client.send("PUT", path, "", {"x-ms-blob-type": "BlockBlob"}, b"x").expect(201)
    set_properties("<DefaultServiceVersion>2016-05-31</DefaultServiceVersion>").expect(202)
    assert client.send("GET", path, "", headers).expect(200).headers["x-ms-version"] == "2016-05-31"
    missing = client.send("GET", f"/{container}/none", "", headers).expect(404)
    assert missing.headers["x-ms-version"] == "2016-05-31"


def test_stats(server, client):
    secondary = Client(server.url)
    secondary.prefix += "-secondary"
    stats = secondary.get("/", query="restype=service&comp=stats").expect(200).xml()
    assert stats.findtext("GeoReplication/Status") == "live"
    last = parsedate_to_datetime(stats.findtext("GeoReplication/LastSyncTime"))
    assert abs((datetime.now(UTC) - last).total_seconds()) < 60
    client.get("/", query="restype=service&comp=stats").expect(400, "InvalidQueryParameterValue")


def test_account_information_at_every_level(service, client, container):
    info = service.get_account_information()
    assert (info["sku_name"], info["account_kind"]) == ("Standard_RAGRS", "StorageV2")
    assert info["is_hns_enabled"] is False
    for path in ("/", f"/{container}", f"/{container}/none", "/none/none"):
        for method in ("GET", "HEAD"):
            reply = client.send(method, path, "restype=account&comp=properties").expect(200)
            assert reply.headers["x-ms-account-kind"] == "StorageV2"
    old = client.get("/", query="restype=account&comp=properties", version="2018-11-09").expect(200)
    assert "x-ms-is-hns-enabled" not in old.headers
