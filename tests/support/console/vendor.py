"""Vendor the console's packages again, from a package registry.

``python -m tests.support.console.vendor`` needs npm, as nothing else here does: it
fetches each package, checks it against the recorded checksum, and writes the files that
we serve.
"""

import base64
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.support.archives import unpack
from tests.support.project import ROOT

SERVED: Final = ROOT / "service/console/static/vendor"
TESTED: Final = ROOT / "tests/support/console/axe_core"


def sources(folder: Path) -> dict[str, Any]:
    """Return the record of a folder: packages, checksums, and files with changes."""
    record: dict[str, Any] = json.loads((folder / "SOURCE.json").read_text())
    return record


def changed(text: str, change: dict[str, str]) -> str:
    """Return a package's file as we serve it."""
    if "replace" in change:
        assert text.count(change["replace"]) == 1
        text = text.replace(change["replace"], change["by"])
    return text + change.get("append", "")


def fetched(package: dict[str, Any], folder: Path) -> Path:
    """Fetch a package, check its checksum, and return its unpacked folder."""
    name = f"{package['package']}@{package['version']}"
    packed = subprocess.run(
        ["npm", "pack", "--silent", name],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    archive = folder / packed
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    assert f"sha512-{digest}" == package["integrity"], name
    unpacked = folder / str(package["package"])
    unpack(archive, unpacked)
    return unpacked / "package"


def vendor(folder: Path) -> None:
    """Write every file of a folder's record from its package."""
    for package in sources(folder)["packages"]:
        with tempfile.TemporaryDirectory() as temporary:
            unpacked = fetched(package, Path(temporary))
            for name, file in package["files"].items():
                text = (unpacked / file["from"]).read_text("utf-8")
                (folder / name).write_text(changed(text, file), "utf-8")


if __name__ == "__main__":
    for each in (SERVED, TESTED):
        vendor(each)
