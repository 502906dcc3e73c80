"""The files of the console: compressed, with their ETag, and the policy of the pages.

They are read once, and are found by their whole path, so no request can name another.
"""

import gzip
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from aiohttp import hdrs, web

from service.errors import NotFoundError

FOLDERS: Final = ("app", "pages", "vendor")
CONTENT_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".png": "image/png",
}
# Vendored scripts are .mjs. Comments, indentation and empty lines of our own aren't
# sent.
OWN_SCRIPT: Final = ".js"
NOT_SENT: Final = re.compile(rb"^ *//.*\n|^ +|^\n", re.MULTILINE)
# Otherwise browsers ask for the icon at each page, beside what the page shows. They
# decode it each time; an SVG would be a document of its own, of 2 ms.
ICON: Final = ".png"
ICON_KEPT: Final = "max-age=86400"
# Scripts can make no markup from text: neither elements nor a Trusted Types policy.
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    hdrs.CACHE_CONTROL: "no-cache",
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is served; ``compressed`` is its gzip form."""

    content_type: str
    plain: bytes
    compressed: bytes
    etag: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return every file that is served, by its path from the console's folder."""
    root = resources.files(__package__) / "static"
    return {path: _read(found) for path, found in _found(root)}


def file_response(request: web.Request, path: str) -> web.Response:
    """Answer with a file, or with 304 to one who has it.

    :raises NotFoundError: there is no such file
    """
    file = static_files().get(path)
    if file is None:
        raise NotFoundError("the console has no such file")
    headers = {**HEADERS, hdrs.ETAG: file.etag}
    if path.endswith(ICON):
        headers[hdrs.CACHE_CONTROL] = ICON_KEPT
    if request.headers.get(hdrs.IF_NONE_MATCH) == file.etag:
        return web.Response(status=304, headers=headers)
    body = file.plain
    if "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, ""):
        body = file.compressed
        headers[hdrs.CONTENT_ENCODING] = "gzip"
    return web.Response(
        body=body, content_type=file.content_type, charset="utf-8", headers=headers
    )


def _found(root: Traversable) -> Iterator[tuple[str, Traversable]]:
    yield "index.html", root / "index.html"
    for folder in FOLDERS:
        for file in (root / folder).iterdir():
            if any(file.name.endswith(suffix) for suffix in CONTENT_TYPES):
                yield f"{folder}/{file.name}", file


def _read(file: Traversable) -> StaticFile:
    plain = file.read_bytes()
    suffix = "." + file.name.rpartition(".")[2]
    if suffix == OWN_SCRIPT:
        plain = NOT_SENT.sub(b"", plain)
    return StaticFile(
        content_type=CONTENT_TYPES[suffix],
        plain=plain,
        compressed=gzip.compress(plain, mtime=0),
        etag=f'"{hashlib.sha256(plain).hexdigest()[:32]}"',
    )
