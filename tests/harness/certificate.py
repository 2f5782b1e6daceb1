"""A certificate made for the occasion, for servers that speak HTTPS."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12


def certificate(folder: Path, password: str = "open sesame") -> dict[str, Path]:
    """A self-signed certificate for 127.0.0.1: PEM, its key, and both as PFX."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = {name: folder / name for name in ("cert.pem", "key.pem", "both.pfx")}
    files["cert.pem"].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files["key.pem"].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    files["both.pfx"].write_bytes(
        pkcs12.serialize_key_and_certificates(
            b"zaffre", key, made, None, serialization.BestAvailableEncryption(password.encode())
        )
    )
    return files
