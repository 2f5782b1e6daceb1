"""Which public methods of the vendor's clients the tests of this suite called, and which came back.

A method counts only when a test itself calls it: what the client calls inside is not the test's doing.
"""

from __future__ import annotations

import functools
import inspect
import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
CALLED: set[str] = set()
RETURNED: set[str] = set()


def methods(kind: type) -> set[str]:
    """The public methods of a client, its inherited ones too; properties are none."""
    public = (name for name in dir(kind) if not name.startswith("_"))
    return {name for name in public if callable(getattr(kind, name))}


def watch(kind: type) -> None:
    """Notes every call of a public method of `kind` from now on."""
    for name in methods(kind):
        static = inspect.getattr_static(kind, name)
        inner = static.__func__ if isinstance(static, (classmethod, staticmethod)) else static
        noted = _noted(f"{kind.__name__}.{name}", inner)
        setattr(kind, name, type(static)(noted) if inner is not static else noted)


def _noted(label: str, inner):
    @functools.wraps(inner)
    def noted(*args, **options):
        ours = _caller().startswith(HERE)
        if ours:
            CALLED.add(label)
        result = inner(*args, **options)
        if ours:
            RETURNED.add(label)
        return result

    return noted


def _caller() -> str:
    """The file of who called, behind the decorators of the client."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "azure/core/tracing" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_filename
