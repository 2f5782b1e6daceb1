"""An issuer of bearer tokens made for the occasion: keys, tokens, and a place to ask for keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from azure.core.credentials import AccessToken
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

OBJECT = "11111111-1111-1111-1111-111111111111"
TENANT = "22222222-2222-2222-2222-222222222222"
OTHER = "33333333-3333-3333-3333-333333333333"


def encode(value: bytes | dict) -> str:
    if isinstance(value, dict):
        value = json.dumps(value).encode()
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class Issuer:
    """Signs with an RSA key (kid `rsa`) and an EC key (kid `ec`)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())

    def keys(self) -> dict:
        r, e = self.rsa.public_key().public_numbers(), self.ec.public_key().public_numbers()
        wide = lambda number, size: encode(number.to_bytes(size, "big"))  # noqa: E731
        return {
            "keys": [
                {"kty": "RSA", "use": "sig", "kid": "rsa", "n": wide(r.n, 256), "e": wide(r.e, 3)},
                {"kty": "EC", "crv": "P-256", "kid": "ec", "x": wide(e.x, 32), "y": wide(e.y, 32)},
            ]
        }

    def claims(self, **changes) -> dict:
        now = int(time.time())
        claims = {
            "iss": self.name,
            "aud": "https://storage.azure.com",
            "nbf": now - 60,
            "exp": now + 3600,
            "oid": OBJECT,
            "tid": TENANT,
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, alg: str = "RS256", kid: str | None = None, sign=None, **changes) -> str:
        header = {"alg": alg, "kid": kid or {"ES256": "ec"}.get(alg, "rsa"), "typ": "JWT"}
        text = f"{encode(header)}.{encode(self.claims(**changes))}"
        signature = (sign or self.signer(alg))(text.encode())
        return f"{text}.{encode(signature)}"

    def signer(self, alg: str):
        def by_rsa(text: bytes) -> bytes:
            return self.rsa.sign(text, padding.PKCS1v15(), hashes.SHA256())

        def by_ec(text: bytes) -> bytes:
            pair = utils.decode_dss_signature(self.ec.sign(text, ec.ECDSA(hashes.SHA256())))
            return b"".join(number.to_bytes(32, "big") for number in pair)

        return {"RS256": by_rsa, "ES256": by_ec}.get(alg, lambda _: b"")

    def as_shared_secret(self, text: bytes) -> bytes:
        """The public key taken for the secret of a MAC, which some verifiers fall for."""
        public = self.rsa.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return hmac.new(public, text, hashlib.sha256).digest()


class Credential:
    """What an SDK asks for tokens."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.scopes: list[str] = []

    def get_token(self, *scopes: str, **_: object) -> AccessToken:
        self.scopes.extend(scopes)
        return AccessToken(self.token, int(time.time()) + 3600)


class Discovery:
    """An issuer's web server: its description, and its keys where that says."""

    def __init__(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                document = outer.documents.get(self.path)
                self.send_response(200 if document else 404)
                self.end_headers()
                self.wfile.write(json.dumps(document or {}).encode())

            def log_message(self, *_: object) -> None:
                pass

        self.documents: dict[str, dict] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
