"""Every public method of the vendor's clients was called by a test of this suite; runs last."""

from __future__ import annotations

import called
import pytest
from conftest import KINDS

# Links are for shares over NFS: the service refuses them on others. A copy inside one server is done
# when it is answered, so that there is never one to abort.
REFUSED = {
    "ShareFileClient.create_hardlink", "ShareFileClient.create_symlink",
    "ShareFileClient.get_symlink", "ShareFileClient.abort_copy",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_public_method_was_called_and_came_back(kind):
    public = {f"{kind.__name__}.{name}" for name in called.methods(kind)}
    refused = public & REFUSED
    assert public - called.CALLED == set(), "never called; this test needs the whole suite before it"
    assert public - called.RETURNED == refused, "never came back, or no longer refused"
    print(f"-- {kind.__name__}: {len(public)} methods, {len(refused)} of them always refused")


def test_there_are_as_many_methods_as_we_know():
    count = sum(len(called.methods(kind)) for kind in KINDS)
    assert count >= 85, "the clients lost methods, or are not looked at"
