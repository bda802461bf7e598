"""Builds the wheel and the sdist (PEP 517) with the standard library alone, the same bytes each time.

A build with setuptools would fetch it from a registry first, on machines that hold API keys.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
#: The first time that a zip can tell. Real ones would make other bytes of each build.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    project = _project()
    information = f"{_stem(project)}.dist-info"
    files = {path.relative_to(FOLDER / "src").as_posix(): path.read_bytes() for path in _sources()}
    files |= {f"{information}/{name}": text for name, text in _metadata_files(project).items()}
    record = "".join(f"{name},{_digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    name = f"{_stem(project)}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    project = _project()
    files = {"PKG-INFO": _metadata(project).encode(), "LICENSE": _licence()}
    tests = [path for path in sorted(FOLDER.glob("tests/**/*")) if path.suffix in (".py", ".txt")]
    for path in [*_sources(), *tests]:
        files[path.relative_to(FOLDER).as_posix()] = path.read_bytes()
    for name in ("pyproject.toml", "build_backend.py", "README.md"):
        files[name] = (FOLDER / name).read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{_stem(project)}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    name = f"{_stem(project)}.tar.gz"
    Path(sdist_directory, name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    return project


def _stem(project: dict[str, Any]) -> str:
    return f"{project['name']}-{project['version']}"


def _sources() -> Iterator[Path]:
    package = FOLDER / "src" / "countersign"
    yield from sorted(path for path in package.rglob("*") if path.suffix == ".py" or path.name == "py.typed")


def _licence() -> bytes:
    """A clone has one for all packages; an sdist has its own."""
    own = FOLDER / "LICENSE"
    return (own if own.exists() else FOLDER.parent / "LICENSE").read_bytes()


def _metadata_files(project: dict[str, Any]) -> dict[str, bytes]:
    wheel = "Wheel-Version: 1.0\nGenerator: countersign\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return {
        "METADATA": _metadata(project).encode(),
        "WHEEL": wheel.encode(),
        "licenses/LICENSE": _licence(),
    }


def _metadata(project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {each}" for each in project["classifiers"]),
        f"License-Expression: {project['license']}",
        "License-File: LICENSE",
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (FOLDER / "README.md").read_text("utf-8")


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
