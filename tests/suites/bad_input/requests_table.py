"""Bad requests as data: what is sent and what the service answers.

A row: name | how it is signed | method | target | headers | body | statuses | codes.
The target is below the account; `*` among the codes accepts any (the description names none).
Expected values come from the protocol's description; several codes mean that it leaves the
choice open. Values of the form `{name}` are filled in by the test.
"""

from __future__ import annotations

PUT_BLOB = {"x-ms-blob-type": "BlockBlob"}
ANY = ("*",)


class Row:
    """One request. `auth`: key (signed as it stands), sas:<what>, none, or raw:<value>."""

    def __init__(self, name, method, target, status, code=ANY, headers=None, body=b"", auth="key"):
        self.name, self.method, self.target = name, method, target
        self.headers, self.body, self.auth = dict(headers or {}), body, auth
        self.statuses = (status,) if isinstance(status, int) else status
        self.codes = (code,) if isinstance(code, str) else code


def block_list(text: str) -> str:
    return f'<?xml version="1.0" encoding="utf-8"?><BlockList>{text}</BlockList>'


def policies(text: str) -> str:
    return f"<SignedIdentifiers>{text}</SignedIdentifiers>"


def policy(identity: str, inner: str = "<Permission>r</Permission>") -> str:
    return (
        f"<SignedIdentifier><Id>{identity}</Id><AccessPolicy>{inner}</AccessPolicy>"
        "</SignedIdentifier>"
    )


# -- names and URLs (5.1, 5.2, 0.1) -------------------------------------------------------------
NAME = "InvalidResourceName"
RANGE = "OutOfRangeInput"
BAD_URL = ("InvalidUri", "InvalidResourceName", "OutOfRangeInput", "RequestUrlFailedToParse",
           "InvalidInput")  # fmt: skip
NAMES = [
    Row("container upper case", "PUT", "/BADNAME?restype=container", 400, NAME),
    Row("container underscore", "PUT", "/bad_name?restype=container", 400, NAME),
    Row("container double hyphen", "PUT", "/bad--name?restype=container", 400, NAME),
    Row("container leading hyphen", "PUT", "/-bad?restype=container", 400, NAME),
    Row("container trailing hyphen", "PUT", "/bad-?restype=container", 400, NAME),
    Row("container dot", "PUT", "/bad.name?restype=container", 400, NAME),
    Row("container space", "PUT", "/bad%20name?restype=container", 400, NAME),
    Row("container non-ascii", "PUT", "/b%C3%A4d?restype=container", 400, NAME),
    Row("container unknown system name", "PUT", "/$bad$?restype=container", 400, NAME),
    Row("container two letters", "PUT", "/ab?restype=container", 400, RANGE),
    Row("container 64 letters", "PUT", f"/{'a' * 64}?restype=container", 400, RANGE),
    Row("blob name of 1025", "PUT", f"/{{c}}/{'n' * 1025}", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("blob with 255 segments", "PUT", "/{c}" + "/s" * 255, 400, BAD_URL, PUT_BLOB, b"x"),
    Row("blob name with NUL", "PUT", "/{c}/a%00b", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("blob name with control", "PUT", "/{c}/a%01b", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("blob name with DEL", "PUT", "/{c}/a%7Fb", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("blob name with C1 control", "PUT", "/{c}/a%C2%80b", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("path is not UTF-8", "PUT", "/{c}/a%FFb", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("overlong UTF-8", "PUT", "/{c}/a%C0%AFb", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("lone surrogate", "PUT", "/{c}/a%ED%A0%80b", 400, BAD_URL, PUT_BLOB, b"x"),
    Row("bad percent", "GET", "/{c}/a%ZZ", 400, BAD_URL),
    Row("short percent", "GET", "/{c}/a%2", 400, BAD_URL),
    Row("percent alone", "GET", "/{c}/%", 400, BAD_URL),
    Row("empty blob name", "PUT", "/{c}/", 400, ANY, PUT_BLOB, b"x"),
    Row("encoded traversal is a name", "GET", "/{c}/..%2F..%2Fetc%2Fpasswd", 404, "BlobNotFound"),
    Row("traversal is a name", "GET", "/{c}/a/../../etc/passwd", (400, 404)),
    Row("unknown account", "GET", "@/nobody/container/b", 404, "ResourceNotFound", auth="none"),
    Row("target of 64 KiB", "GET", "/{c}/" + "u" * 65536, (400, 414, 431), ANY),
    Row("query of 64 KiB", "GET", "/{c}/b?x=" + "q" * 65536, (400, 414, 431), ANY),
    Row("missing container", "GET", "/nothere/b", 404, "ContainerNotFound"),
    Row(
        "missing container of a put", "PUT", "/nothere/b", 404, "ContainerNotFound", PUT_BLOB, b"x"
    ),
    Row("missing blob", "GET", "/{c}/nothere", 404, "BlobNotFound"),
]

# -- verbs, comp, restype (1.4 routing note) ----------------------------------------------------
VERB, QUERY = "UnsupportedHttpVerb", "InvalidQueryParameterValue"
ROUTES = [
    Row("PATCH blob", "PATCH", "/{c}/b", 405, VERB),
    Row("POST blob", "POST", "/{c}/b", 405, VERB),
    Row("POST container", "POST", "/{c}?restype=container", 405, VERB),
    Row("TRACE blob", "TRACE", "/{c}/b", (400, 405), (VERB, "InvalidHttpVerb")),
    Row("unknown verb", "BREW", "/{c}/b", (400, 405), (VERB, "InvalidHttpVerb")),
    Row("verb in lower case", "get", "/{c}/b", (400, 405), (VERB, "InvalidHttpVerb")),
    Row("GET lease", "GET", "/{c}/b?comp=lease", 405, VERB),
    Row("DELETE block list", "DELETE", "/{c}/b?comp=blocklist", 405, VERB),
    Row("PUT list of containers", "PUT", "/?comp=list", 405, VERB),
    Row("unknown comp on blob", "PUT", "/{c}/b?comp=nonsense", 400, QUERY),
    Row("unknown comp on container", "GET", "/{c}?restype=container&comp=nonsense", 400, QUERY),
    Row("unknown comp on account", "GET", "/?comp=nonsense", 400, QUERY),
    Row("unknown restype", "GET", "/{c}?restype=nonsense", 400, QUERY),
    Row("rename is not offered", "PUT", "/{c}?restype=container&comp=rename", 400, QUERY),
    Row("comp twice", "GET", "/{c}/b?comp=metadata&comp=blocklist", 400, QUERY),
    Row("no blob type", "PUT", "/{c}/b", 400, "MissingRequiredHeader", {}, b"x"),
    Row("nonsense blob type", "PUT", "/{c}/b", 400, "InvalidHeaderValue",
        {"x-ms-blob-type": "Nonsense"}, b"x"),
    Row("length of a page blob on a block blob", "PUT", "/{c}/b", 400, ANY,
        {**PUT_BLOB, "x-ms-blob-content-length": "512"}, b"x"),
]  # fmt: skip

# -- query parameters (5.4, 4.1, 4.4) -----------------------------------------------------------
LIST = "/{c}?restype=container&comp=list"
OUT = "OutOfRangeQueryParameterValue"
PARAMETERS = [
    Row("maxresults 0", "GET", f"{LIST}&maxresults=0", 400, (OUT, QUERY)),
    Row("maxresults negative", "GET", f"{LIST}&maxresults=-1", 400, (OUT, QUERY)),
    Row("maxresults text", "GET", f"{LIST}&maxresults=abc", 400, (OUT, QUERY)),
    Row("maxresults empty", "GET", f"{LIST}&maxresults=", (200, 400), ANY),
    Row("maxresults fraction", "GET", f"{LIST}&maxresults=1.5", 400, (OUT, QUERY)),
    Row("maxresults beyond 64 bits", "GET", f"{LIST}&maxresults={'9' * 40}", (200, 400), ANY),
    Row("containers maxresults 0", "GET", "/?comp=list&maxresults=0", 400, (OUT, QUERY)),
    Row("marker nonsense", "GET", f"{LIST}&marker=nonsense", 400, RANGE),
    Row("marker binary", "GET", f"{LIST}&marker=%00%01%02", 400, BAD_URL + (QUERY,)),
    Row("include nonsense", "GET", f"{LIST}&include=nonsense", 400, QUERY),
    Row("snapshots with delimiter", "GET", f"{LIST}&include=snapshots&delimiter=/", 400, QUERY),
    Row("prefix not UTF-8", "GET", f"{LIST}&prefix=%FF", 400, BAD_URL + (QUERY,)),
    Row("timeout text", "GET", "/{c}/b?timeout=abc", (200, 400), ("", QUERY)),
    Row("blocklisttype nonsense", "GET", "/{c}/b?comp=blocklist&blocklisttype=nonsense", 400,
        QUERY),
    Row("snapshot nonsense", "GET", "/{c}/b?snapshot=nonsense", 400, QUERY),
    Row("snapshot and version", "GET",
        "/{c}/b?snapshot=2024-01-01T00:00:00.0000000Z&versionid=2024-01-01T00:00:00.0000000Z",
        400, "MutuallyExclusiveQueryParameters"),
    Row("block id absent", "PUT", "/{c}/b?comp=block", 400, "MissingRequiredQueryParameter",
        {}, b"x"),
    Row("block id not base64", "PUT", "/{c}/b?comp=block&blockid=!!!", 400, QUERY, {}, b"x"),
    Row("block id badly padded", "PUT", "/{c}/b?comp=block&blockid=YWJj%3D", 400, QUERY, {}, b"x"),
    Row("block id of 65 bytes", "PUT", f"/{{c}}/b?comp=block&blockid={'YWFh' * 21}YWE%3D", 400,
        RANGE, {}, b"x"),
    Row("block id of another length", "PUT", "/{c}/staged?comp=block&blockid=YWE%3D", 400,
        "InvalidBlobOrBlock", {}, b"x"),
    Row("empty block", "PUT", "/{c}/b?comp=block&blockid=YWFhYQ%3D%3D", 400, "InvalidHeaderValue"),
]  # fmt: skip

# -- dates, versions, plain headers (0.2, 2.1, 4.6, 5.1, 5.9) -----------------------------------
HEADER = "InvalidHeaderValue"
B = "/{c}/b"
FAILED = "AuthenticationFailed"
HEADERS = [
    Row("version nonsense", "GET", B, 400, HEADER, {"x-ms-version": "nonsense"}),
    Row("version of no calendar", "GET", B, 400, HEADER, {"x-ms-version": "2019-13-45"}),
    Row("version with a tail", "GET", B, 400, HEADER, {"x-ms-version": "2019-12-12x"}),
    Row("version before all", "GET", B, 400, HEADER, {"x-ms-version": "1999-01-01"}),
    Row("date nonsense", "GET", B, 403, FAILED, {"x-ms-date": "nonsense"}),
    Row("date empty", "GET", B, 403, FAILED, {"x-ms-date": ""}),
    Row("no date at all", "GET", B, 403, FAILED, {"x-ms-date": None}),
    Row("date 16 minutes old", "GET", B, 403, FAILED, {"x-ms-date": "{ago16}"}),
    Row("date 16 minutes ahead", "GET", B, 403, FAILED, {"x-ms-date": "{ahead16}"}),
    Row("date of another year", "GET", B, 403, FAILED,
        {"x-ms-date": "Sun, 06 Nov 1994 08:49:37 GMT"}),
    Row("date in RFC 850 form is good", "GET", B, 200, ANY, {"x-ms-date": "{rfc850}"}),
    Row("unparsable condition date is ignored", "GET", B, 200, ANY, {"If-Modified-Since": "soon"}),
    Row("condition year 0", "GET", B, 200, ANY,
        {"If-Unmodified-Since": "Thu, 99 Foo 0000 99:99:99 GMT"}),
    Row("two conditions on a write", "PUT", B, 400, "MultipleConditionHeadersNotSupported",
        {**PUT_BLOB, "If-Match": '"a"', "If-None-Match": '"b"'}, b"x"),
    Row("list of tags on a write", "PUT", B, 400, "MultipleConditionHeadersNotSupported",
        {**PUT_BLOB, "If-Match": '"a", "b"'}, b"x"),
    Row("wildcard on a read", "GET", B, 400, "UnsatisfiableCondition", {"If-None-Match": "*"}),
    Row("md5 not base64", "PUT", B, 400, "InvalidMd5", {**PUT_BLOB, "Content-MD5": "!!"}, b"x"),
    Row("md5 too short", "PUT", B, 400, "InvalidMd5", {**PUT_BLOB, "Content-MD5": "YWJj"}, b"x"),
    Row("md5 of something else", "PUT", B, 400, "Md5Mismatch",
        {**PUT_BLOB, "Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg=="}, b"x"),
    Row("crc64 not base64", "PUT", B, 400, ANY, {**PUT_BLOB, "x-ms-content-crc64": "!!"}, b"x"),
    Row("crc64 too short", "PUT", B, 400, ANY, {**PUT_BLOB, "x-ms-content-crc64": "YWJj"}, b"x"),
    Row("crc64 of something else", "PUT", B, 400, "Crc64Mismatch",
        {**PUT_BLOB, "x-ms-content-crc64": "vo7q9sPVKY0="}, b"x"),
    Row("md5 and crc64", "PUT", B, 400, "BothCrc64AndMd5HeaderPresent",
        {**PUT_BLOB, "Content-MD5": "nd1G6j+j7ygnGYnP/Pt3RQ==",
         "x-ms-content-crc64": "vo7q9sPVKY0="}, b"x"),
    Row("metadata name with hyphen", "PUT", f"{B}?comp=metadata", 400, "InvalidMetadata",
        {"x-ms-meta-a-b": "1"}),
    Row("metadata name with digit first", "PUT", f"{B}?comp=metadata", 400, "InvalidMetadata",
        {"x-ms-meta-1a": "1"}),
    Row("metadata name empty", "PUT", f"{B}?comp=metadata", 400, "EmptyMetadataKey",
        {"x-ms-meta-": "1"}),
    Row("metadata over 8 KiB", "PUT", f"{B}?comp=metadata", 400, "MetadataTooLarge",
        {"x-ms-meta-a": "v" * 8192}),
    Row("metadata over 8 KiB in many", "PUT", f"{B}?comp=metadata", 400, "MetadataTooLarge",
        {f"x-ms-meta-a{i}": "v" * 200 for i in range(42)}),
    Row("container metadata illegal", "PUT", "/{c}?restype=container&comp=metadata", 400,
        "InvalidMetadata", {"x-ms-meta-a-b": "1"}),
    Row("tier nonsense", "PUT", B, 400, HEADER, {**PUT_BLOB, "x-ms-access-tier": "Lukewarm"}, b"x"),
    Row("public access nonsense", "PUT", "/fresh1?restype=container", 400, HEADER,
        {"x-ms-blob-public-access": "everyone"}),
    Row("acl public access nonsense", "PUT", "/{c}?restype=container&comp=acl", 400, HEADER,
        {"x-ms-blob-public-access": "everyone"}),
    Row("range md5 without range", "GET", B, 400, ANY, {"x-ms-range-get-content-md5": "true"}),
    Row("range crc64 without range", "GET", B, 400, ANY, {"x-ms-range-get-content-crc64": "true"}),
    Row("range md5 over 4 MiB", "GET", "/{c}/five", 400, ANY,
        {"x-ms-range-get-content-md5": "true", "x-ms-range": "bytes=0-4194304"}),
    Row("range md5 and crc64", "GET", B, 400, "BothCrc64AndMd5RangeHeaderPresent",
        {"x-ms-range-get-content-md5": "true", "x-ms-range-get-content-crc64": "true",
         "x-ms-range": "bytes=0-1"}),
    Row("range beyond the end", "GET", B, 416, "InvalidRange", {"x-ms-range": "bytes=100-"}),
    Row("headers of 300 KiB", "GET", B, (400, 431), ANY, {"x-filler": "f" * 300_000}),
    Row("500 headers", "GET", B, (400, 431), ANY, {f"x-filler-{i}": "f" for i in range(500)}),
]  # fmt: skip

# -- leases (3.1) -------------------------------------------------------------------------------
L, MISSING = "/{c}/b?comp=lease", "MissingRequiredHeader"
GUID = "aaaaaaaa-1111-1111-1111-111111111111"


def acquire(**fields: str) -> dict[str, str]:
    return {"x-ms-lease-action": "acquire", **{k.replace("_", "-"): v for k, v in fields.items()}}


LEASES = [
    Row("no action", "PUT", L, 400, MISSING),
    Row("action nonsense", "PUT", L, 400, HEADER, {"x-ms-lease-action": "steal"}),
    Row("no duration", "PUT", L, 400, MISSING, acquire()),
    *(
        Row(f"duration {text}", "PUT", L, 400, HEADER, acquire(x_ms_lease_duration=text))
        for text in ("14", "61", "0", "-2", "abc", "1.5", "9" * 30)
    ),
    Row("proposed id nonsense", "PUT", L, 400, HEADER,
        acquire(x_ms_lease_duration="15", x_ms_proposed_lease_id="nonsense")),
    *(
        Row(f"break period {text}", "PUT", L, 400, HEADER,
            {"x-ms-lease-action": "break", "x-ms-lease-break-period": text})
        for text in ("61", "-1", "abc", "9" * 30)
    ),
    Row("renew without id", "PUT", L, 400, ANY, {"x-ms-lease-action": "renew"}),
    Row("release without id", "PUT", L, 400, ANY, {"x-ms-lease-action": "release"}),
    Row("change without id", "PUT", L, 400, ANY,
        {"x-ms-lease-action": "change", "x-ms-proposed-lease-id": GUID}),
    Row("change without proposed id", "PUT", L, 400, ANY,
        {"x-ms-lease-action": "change", "x-ms-lease-id": GUID}),
    Row("renew with nonsense id", "PUT", L, 400, HEADER,
        {"x-ms-lease-action": "renew", "x-ms-lease-id": "nonsense"}),
    Row("write with nonsense id", "PUT", B, 400, HEADER,
        {**PUT_BLOB, "x-ms-lease-id": "nonsense"}, b"x"),
    Row("read with nonsense id", "GET", B, 400, HEADER, {"x-ms-lease-id": "nonsense"}),
    Row("lease of a missing blob", "PUT", "/{c}/nothere?comp=lease", 404, "BlobNotFound",
        acquire(x_ms_lease_duration="15")),
    Row("lease in a missing container", "PUT", "/nothere/b?comp=lease", 404, "ContainerNotFound",
        acquire(x_ms_lease_duration="15")),
    Row("lease of a missing container", "PUT", "/nothere?restype=container&comp=lease", 404,
        "ContainerNotFound", acquire(x_ms_lease_duration="15")),
]  # fmt: skip

# -- XML bodies (4.1, 5.7) ----------------------------------------------------------------------
LISTING, ACL = "/{c}/staged?comp=blocklist", "/{c}?restype=container&comp=acl"
XML = "InvalidXmlDocument"
XML_ANY = (XML, "InvalidXmlNodeValue", "UnsupportedXmlNode", "MissingRequiredXmlNode",
           "InvalidBlockList", "InvalidBlockId", "InvalidInput")  # fmt: skip


def entity(index: int) -> str:
    return f"&a{index};"


ENTITIES = "".join(f'<!ENTITY a{i} "{entity(i - 1) * 10}">' for i in range(1, 10))
BOMB = f'<!DOCTYPE z [<!ENTITY a0 "aaaaaaaaaa">{ENTITIES}]>'
BODIES = [
    Row("block list empty", "PUT", LISTING, 400, XML),
    Row("block list not XML", "PUT", LISTING, 400, XML, {}, b"nonsense"),
    Row("block list cut off", "PUT", LISTING, 400, XML, {}, b"<BlockList><Latest>YWFh"),
    Row("block list wrong root", "PUT", LISTING, 400, XML_ANY, {}, b"<Nonsense/>"),
    Row("block list unknown child", "PUT", LISTING, 400, XML_ANY, {},
        block_list("<Newest>YWFhYQ==</Newest>")),
    Row("block list crossed tags", "PUT", LISTING, 400, XML, {},
        b"<BlockList><Latest></BlockList>"),
    Row("block list two roots", "PUT", LISTING, 400, XML, {}, block_list("") + "<BlockList/>"),
    Row("block list bad UTF-8", "PUT", LISTING, 400, XML, {}, b"<BlockList>\xff\xfe</BlockList>"),
    Row("block list with entities", "PUT", LISTING, 400, XML, {},
        BOMB + block_list("<Latest>&a9;</Latest>")),
    Row("block list with external entity", "PUT", LISTING, 400, XML, {},
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
        + "<BlockList><Latest>&e;</Latest></BlockList>"),
    Row("block list nested 10,000 deep", "PUT", LISTING, 400, XML_ANY, {},
        block_list("<Latest>" * 10000 + "</Latest>" * 10000)),
    Row("block list with 10,000 attributes", "PUT", LISTING, 400, XML_ANY, {},
        "<BlockList " + " ".join(f'a{i}="1"' for i in range(10000)) + "/>"),
    Row("block list duplicate attribute", "PUT", LISTING, 400, XML_ANY, {},
        '<BlockList a="1" a="2"/>'),
    Row("block that was never staged", "PUT", LISTING, 400, "InvalidBlockList", {},
        block_list("<Latest>enp6eg==</Latest>")),
    Row("block id not base64", "PUT", LISTING, 400, XML_ANY, {}, block_list("<Latest>!</Latest>")),
    Row("block id empty", "PUT", LISTING, 400, XML_ANY, {}, block_list("<Latest></Latest>")),
    Row("one id under two kinds", "PUT", LISTING, 400, "InvalidBlockList", {},
        block_list("<Latest>YWFhYQ==</Latest><Uncommitted>YWFhYQ==</Uncommitted>")),
    Row("50,001 entries", "PUT", LISTING, 400, "BlockListTooLong", {},
        block_list("<Latest>YWFhYQ==</Latest>" * 50_001)),
    Row("block list of 40 MiB", "PUT", LISTING, (400, 413), ANY, {},
        block_list(" " * (40 * 1024 * 1024))),
    Row("acl not XML", "PUT", ACL, 400, XML, {}, b"nonsense"),
    Row("acl six entries", "PUT", ACL, 400, XML, {}, policies("".join(map(policy, "abcdef")))),
    Row("acl id of 65", "PUT", ACL, 400, XML, {}, policies(policy("i" * 65))),
    Row("acl without id", "PUT", ACL, 400, XML, {},
        policies("<SignedIdentifier><AccessPolicy/></SignedIdentifier>")),
    Row("acl bad date", "PUT", ACL, 400, (XML, "InvalidXmlNodeValue"), {},
        policies(policy("a", "<Start>tomorrow</Start>"))),
    Row("acl bad permission", "PUT", ACL, 400, (XML, "InvalidXmlNodeValue"), {},
        policies(policy("a", "<Permission>!?</Permission>"))),
    Row("acl unknown element", "PUT", ACL, 400, XML_ANY, {}, policies("<Nonsense/>")),
    Row("acl of 2 MiB", "PUT", ACL, (400, 413), ANY, {}, policies(policy("i" * 2_000_000))),
]  # fmt: skip

# -- pages, appends, and how a blob is kept (4.2, 4.3, 7.7 to 7.9) --------------------------------
HEADER, NEEDED = "InvalidHeaderValue", "MissingRequiredHeader"
PAGES = "/{c}/b?comp=page"
UPDATE = {"x-ms-page-write": "update"}
PAGE_BLOB = {"x-ms-blob-type": "PageBlob"}
TIER = "/{c}/b?comp=tier"
POLICY = "/{c}/b?comp=immutabilityPolicies"
KEY = {"x-ms-encryption-key": "MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=",
       "x-ms-encryption-key-sha256": "3QFFFpRA5+XANHqwwbT4yXDmrT/2JaLt/FKHjzhOdoE=",
       "x-ms-encryption-algorithm": "AES256"}  # fmt: skip
KEPT = [
    Row("page blob without size", "PUT", "/{c}/new", 400, ANY, PAGE_BLOB),
    Row("page blob of 513 bytes", "PUT", "/{c}/new", 400, HEADER,
        {**PAGE_BLOB, "x-ms-blob-content-length": "513"}),
    Row("page blob with content", "PUT", "/{c}/new", 400, ANY,
        {**PAGE_BLOB, "x-ms-blob-content-length": "512"}, b"x"),
    Row("append blob with content", "PUT", "/{c}/new", 400, ANY,
        {"x-ms-blob-type": "AppendBlob"}, b"x"),
    Row("page without range", "PUT", PAGES, 400, NEEDED, UPDATE, b"x" * 512),
    Row("page without what to do", "PUT", PAGES, 400, ANY, {"x-ms-range": "bytes=0-511"}, b"x" * 512),
    Row("page at an odd place", "PUT", PAGES, 400, HEADER,
        {**UPDATE, "x-ms-range": "bytes=1-512"}, b"x" * 512),
    Row("page of another length", "PUT", PAGES, 400, HEADER,
        {**UPDATE, "x-ms-range": "bytes=0-1023"}, b"x" * 512),
    Row("page of a block blob", "PUT", PAGES, 409, "InvalidBlobType",
        {**UPDATE, "x-ms-range": "bytes=0-511"}, b"x" * 512),
    Row("page ranges of a block blob", "GET", "/{c}/b?comp=pagelist", 409, "InvalidBlobType"),
    Row("append to a block blob", "PUT", "/{c}/b?comp=appendblock", 409, "InvalidBlobType", {}, b"x"),
    Row("append of nothing", "PUT", "/{c}/b?comp=appendblock", 400, HEADER),
    Row("append at a word", "PUT", "/{c}/b?comp=appendblock", 400, ANY,
        {"x-ms-blob-condition-appendpos": "end"}, b"x"),
    Row("seal of a block blob", "PUT", "/{c}/b?comp=seal", 409, "InvalidBlobType"),
    Row("tier without a name", "PUT", TIER, 400, NEEDED),
    Row("tier of nonsense", "PUT", TIER, 400, HEADER, {"x-ms-access-tier": "Lukewarm"}),
    Row("tier on upload of nonsense", "PUT", "/{c}/new", 400, HEADER,
        {**PUT_BLOB, "x-ms-access-tier": "Lukewarm"}, b"x"),
    Row("rehydration of nonsense", "PUT", TIER, 400, HEADER,
        {"x-ms-access-tier": "Hot", "x-ms-rehydrate-priority": "Now"}),
    Row("tier of a snapshot of nonsense", "PUT", TIER + "&snapshot=then", 400, QUERY,
        {"x-ms-access-tier": "Hot"}),
    Row("policy without a date", "PUT", POLICY, 400, NEEDED),
    Row("policy until nonsense", "PUT", POLICY, 400, HEADER,
        {"x-ms-immutability-policy-until-date": "forever"}),
    Row("policy by the wrong verb", "POST", POLICY, 405),
    Row("hold without a word", "PUT", "/{c}/b?comp=legalhold", 400, NEEDED),
    Row("hold of nonsense", "PUT", "/{c}/b?comp=legalhold", 400, HEADER,
        {"x-ms-legal-hold": "perhaps"}),
    Row("key without digest", "PUT", "/{c}/new", 400, ANY,
        {**PUT_BLOB, "x-ms-encryption-key": KEY["x-ms-encryption-key"]}, b"x"),
    Row("key that is short", "PUT", "/{c}/new", 400, HEADER,
        {**PUT_BLOB, **KEY, "x-ms-encryption-key": "c2hvcnQ="}, b"x"),
    Row("key and scope", "PUT", "/{c}/new", 400, ANY,
        {**PUT_BLOB, **KEY, "x-ms-encryption-scope": "red"}, b"x"),
    Row("key of an open blob", "GET", "/{c}/b", 409, "BlobDoesNotUseCustomerSpecifiedEncryption", KEY),
    Row("unknown scope", "PUT", "/{c}/new", 409, "EncryptionScopeNotAvailable",
        {**PUT_BLOB, "x-ms-encryption-scope": "nowhere"}, b"x"),
    Row("expiry of a flat blob", "PUT", "/{c}/b?comp=expiry", 400, "HierarchicalNamespaceNotEnabled",
        {"x-ms-expiry-option": "NeverExpire"}),
]  # fmt: skip

TABLE = NAMES + ROUTES + PARAMETERS + HEADERS + LEASES + BODIES + KEPT
