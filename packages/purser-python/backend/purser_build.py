"""Builds the wheel and the source archive with the standard library alone, so that neither building nor installing
needs a network. PEP 517; the package has no compiled code and no dependencies. Equal sources give equal bytes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "purser"
_FOUND = re.search(r'^VERSION = "([^"]+)"', (ROOT / "src/purser/version.py").read_text(encoding="utf-8"), re.MULTILINE)
VERSION = _FOUND[1] if _FOUND else ""
STEM = f"{NAME}-{VERSION}"
INFO = f"{STEM}.dist-info"
SOURCES = ("LICENSE", "README.md", "pyproject.toml", "backend/purser_build.py")
FILE_TIME = (1980, 1, 1, 0, 0, 0)

METADATA = f"""\
Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Everything that an app needs to spend its users' own prepaid balance on model calls through Purser.
License: MIT
License-File: LICENSE
Classifier: License :: OSI Approved :: MIT License
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Typing :: Typed
Requires-Python: >=3.10
Description-Content-Type: text/markdown

{(ROOT / "README.md").read_text(encoding="utf-8")}"""

WHEEL = f"Wheel-Version: 1.0\nGenerator: purser_build ({VERSION})\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    sources = {f"purser/{file.name}": file.read_bytes() for file in _modules()}
    return _write_wheel(wheel_directory, sources)


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    return _write_wheel(wheel_directory, {f"{NAME}.pth": f"{ROOT / 'src'}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    files = {name: (ROOT / name).read_bytes() for name in SOURCES}
    files |= {f"src/purser/{file.name}": file.read_bytes() for file in _modules()}
    files["PKG-INFO"] = METADATA.encode()
    name = f"{STEM}.tar.gz"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{STEM}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    (Path(sdist_directory) / name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


def _modules() -> list[Path]:
    return [file for file in sorted((ROOT / "src/purser").iterdir()) if file.suffix == ".py" or file.name == "py.typed"]


def _write_wheel(folder: str, contents: dict[str, bytes]) -> str:
    files = {
        **contents,
        f"{INFO}/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/WHEEL": WHEEL.encode(),
    }
    record = [f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items()]
    files[f"{INFO}/RECORD"] = "".join([*record, f"{INFO}/RECORD,,\n"]).encode()
    name = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, FILE_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
