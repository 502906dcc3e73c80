"""Real proxies, set up by the blocks of docs/operations/proxies.md."""

import os
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.support.certificate import Certificate, make_certificate
from tests.support.harness.process import Process, free_ports
from tests.support.project import ROOT
from tests.support.readme import FENCE
from tests.support.waiting import until_blocking

PAGE: Final = ROOT / "docs/operations/proxies.md"
# Browsers resolve it to this machine; the console takes it for a name on the internet.
HOST: Final = "runtime.localhost"
SERVICE: Final = "127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy; ``certificate`` is its own CA."""

    name: str
    port: int
    certificate: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def url_in_browser(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


@dataclass(frozen=True, slots=True)
class Setup:
    """What of a block is replaced, and what is around it."""

    folder: Path
    port: int
    services: Sequence[str]
    files: Certificate

    def block(self, language: str, changes: Mapping[str, str]) -> str:
        """Return a block of the page for this machine; every change is in it."""
        text: str = dict(FENCE.findall(PAGE.read_text("utf-8")))[language]
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        return text

    def write(self, text: str) -> Path:
        path = self.folder / "configuration"
        path.write_text(text)
        return path


def nginx(setup: Setup) -> Sequence[str | Path]:
    return _nginx(setup, {})


def nginx_1_0(setup: Setup) -> Sequence[str | Path]:
    """As nginx asks a service without being told otherwise: by HTTP/1.0."""
    asked = ("proxy_http_version 1.1;", 'proxy_set_header Connection "";')
    return _nginx(setup, dict.fromkeys(asked, ""))


def _nginx(setup: Setup, changes: Mapping[str, str]) -> Sequence[str | Path]:
    servers = (f"server {each};" for each in setup.services)
    block = setup.block(
        "nginx",
        {
            **changes,
            f"server {SERVICE};": " ".join(servers),
            "listen 443 ssl": f"listen 127.0.0.1:{setup.port} ssl",
            "/etc/ssl/runtime.example.com.pem": str(setup.files.certificate),
            "/etc/ssl/private/runtime.example.com.key": str(setup.files.key),
            "runtime.example.com": HOST,
        },
    )
    # Its workers have another user otherwise, who can't enter the folder.
    user = "user root;" if os.getuid() == 0 else ""
    folders = "".join(
        f"{each}_temp_path {setup.folder / each};"
        for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    path = setup.write(
        f"{user} daemon off; pid {setup.folder / 'pid'}; error_log stderr; events {{}}"
        f" http {{ access_log off; {folders}\n{block} }}"
    )
    return ["nginx", "-e", "stderr", "-c", path]


def haproxy(setup: Setup) -> Sequence[str | Path]:
    # The names have to differ.
    servers = (f"server {each} {each} check" for each in setup.services)
    block = setup.block(
        "haproxy",
        {
            f"server one {SERVICE} check": "\n    ".join(servers),
            "bind :443": f"bind 127.0.0.1:{setup.port}",
            "/etc/haproxy/runtime.example.com.pem": str(setup.files.both),
        },
    )
    return ["haproxy", "-db", "-f", setup.write(block)]


def caddy(setup: Setup) -> Sequence[str | Path]:
    sites = f"https://{HOST}:{setup.port}, https://127.0.0.1:{setup.port}"
    tls = f"tls {setup.files.certificate} {setup.files.key}"
    block = setup.block(
        "caddyfile",
        {
            SERVICE: " ".join(setup.services),
            "runtime.example.com {": f"{sites} {{\n    {tls}",
        },
    )
    path = setup.write(
        "{\n    admin off\n    auto_https disable_redirects\n"
        f"    default_bind 127.0.0.1\n}}\n{block}"
    )
    return ["caddy", "run", "--adapter", "caddyfile", "--config", path]


# As documented, and another one that exports are cut behind.
PROXIES: Final = ("nginx", "haproxy", "caddy")
NGINX_1_0: Final = "nginx by HTTP/1.0"
_SET_UP: Final[Mapping[str, Callable[[Setup], Sequence[str | Path]]]] = {
    "nginx": nginx,
    "haproxy": haproxy,
    "caddy": caddy,
    NGINX_1_0: nginx_1_0,
}


@contextmanager
def running_proxy(name: str, folder: Path, *service_urls: str) -> Iterator[Proxy]:
    """Run a proxy before processes of the service.

    Skip where it isn't installed, but never in CI.
    """
    folder.mkdir()
    [port] = free_ports(1)
    files = make_certificate(folder, HOST)
    services = [urlsplit(url).netloc for url in service_urls]
    command = _SET_UP[name](Setup(folder, port, services, files))
    if shutil.which(command[0]) is None:
        missing = f"there is no {command[0]} (apt-get install)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    process = Process(
        command,
        folder / "log",
        # Caddy has folders of its own.
        environment={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
        folder=folder,
    )
    process.start()
    try:
        until_blocking(lambda: not process.is_running or _listens(port))
        assert process.is_running, process.log_tail()
        yield Proxy(name, port, files.certificate)
    finally:
        process.stop()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
