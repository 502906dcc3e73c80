"""The console's files: vendored as recorded, small, and under the strict policy."""

import hashlib
import re
from pathlib import Path

import pytest

from service.console.files import CONTENT_POLICY, static_files
from tests.support.console.vendor import SERVED, TESTED, changed, sources

STATIC = SERVED.parent
FIRST_VIEW_BYTES_MAX = 60_000
# All scripts, compressed: there is room for about ten more pages.
SCRIPT_BYTES_MAX = 150_000
LINES_MAX = 300
OWN = sorted(
    path
    for folder in ("app", "pages")
    for path in (STATIC / folder).iterdir()
    if path.suffix in {".js", ".css"}
)
IMPORT = re.compile(r'(?:from|import)\s*\(?\s*"(\.[^"]+)"')


@pytest.mark.parametrize("folder", [SERVED, TESTED], ids=lambda path: path.name)
def test_vendored_files_are_those_of_the_recorded_packages(folder: Path) -> None:
    recorded = {
        name: file
        for package in sources(folder)["packages"]
        for name, file in package["files"].items()
    }
    found = {path.name for path in folder.iterdir()} - {"SOURCE.json"}

    assert found == recorded.keys()
    for name, file in recorded.items():
        original = original_of((folder / name).read_text("utf-8"), file)
        digest = hashlib.sha256(original.encode()).hexdigest()
        assert digest == file["sha256"], name
    for package in sources(folder)["packages"]:
        assert package["integrity"].startswith("sha512-")
        assert any("LICENSE" in name for name in package["files"])


def original_of(text: str, change: dict[str, str]) -> str:
    """Undo what :func:`changed` does."""
    original = text.removesuffix(change.get("append", ""))
    if "replace" in change:
        assert original.count(change["by"]) == 1
        original = original.replace(change["by"], change["replace"])
    assert changed(original, change) == text
    return original


def test_a_first_view_loads_little_script() -> None:
    files = static_files()
    loaded = modules_of("app/main.js") | modules_of("pages/overview.js")
    first_view = sum(len(files[name].compressed) for name in loaded)
    everything = sum(
        len(file.compressed)
        for file in files.values()
        if file.content_type == "text/javascript"
    )

    assert "vendor/uplot.mjs" not in loaded
    assert first_view <= FIRST_VIEW_BYTES_MAX, (
        "load what the first view doesn't show on demand, by import() in a page"
    )
    assert everything <= SCRIPT_BYTES_MAX, (
        "a page's script should take 1 to 6 kB compressed; if this one does, raise "
        "SCRIPT_BYTES_MAX by what it takes, for the next ten pages"
    )


def test_only_comments_indentation_and_empty_lines_are_left_out() -> None:
    for path in OWN:
        if path.suffix == ".js":
            served = static_files()[f"{path.parent.name}/{path.name}"].plain.decode()
            text = path.read_text("utf-8")
            lines = [line.lstrip() for line in text.splitlines()]
            code = [line for line in lines if line and not line.startswith("//")]
            assert served.splitlines() == code


def modules_of(name: str) -> set[str]:
    """Return a module with all that it imports at once, not on demand."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        text = static_files()[path].plain.decode()
        for relative in re.findall(r'from\s*"(\.[^"]+)"', text):
            target = (STATIC / path).parent / relative
            waiting.append(str(target.resolve().relative_to(STATIC.resolve())))
    return found


def test_every_import_is_a_file_of_the_console() -> None:
    for path in OWN:
        for relative in IMPORT.findall(path.read_text("utf-8")):
            assert (path.parent / relative).is_file(), (path, relative)


@pytest.mark.parametrize(
    "path", OWN, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_our_own_files_are_short_and_load_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text("utf-8")

    assert len(text.splitlines()) < LINES_MAX
    assert not re.search(r"https?://|innerHTML|eval\(|Storage|\bstyle=", text)


def test_the_policy_allows_this_origin_alone() -> None:
    assert CONTENT_POLICY.startswith("default-src 'none'; ")
    assert "unsafe" not in CONTENT_POLICY
    assert "require-trusted-types-for 'script'" in CONTENT_POLICY
    sources_allowed = set(re.findall(r"-src (\S+?);", CONTENT_POLICY))
    assert sources_allowed == {"'none'", "'self'"}
