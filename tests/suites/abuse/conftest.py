"""The controls of the clock and of faults are the ones that users copy."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "samples" / "test-controls"))
