"""Cases that the Python package and the SDK must decide alike. Both packages' tests read the same file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "sdk" / "vectors.json").read_text(encoding="utf-8")
)
