"""The same clients as the SDK suite has."""

from suites.sdk.conftest import blob, box, refused, service  # noqa: F401
