"""One service with demo data, and each proxy before it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.proxies.programs import PROXIES, Proxy, running_proxy
from tests.support.console.browser.service import DemoData, serve_demo


@pytest.fixture(scope="package")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxies")


@pytest.fixture(scope="package")
def demo(demo_folder: Path) -> Iterator[DemoData]:
    with serve_demo(demo_folder, "--trusted-proxies", "127.0.0.1") as data:
        yield data


@pytest.fixture(scope="package", params=PROXIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="package")
def proxy(
    name: str, demo: DemoData, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp(name) / "proxy"
    with running_proxy(name, folder, demo.url) as running:
        yield running
