"""The Grafana dashboard and the recording rules, with a real Prometheus."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
import yaml

from deploy.grafana.dashboards import DASHBOARD
from tests.integration.deploy.test_prometheus import RULES
from tests.support.demo_service import DemoService, demo_service
from tests.support.harness.process import Process, free_ports
from tests.support.waiting import until_blocking

# This service has no read replica and no relay; no agent calls a tool, and no answer
# is a 5xx.
NOT_HERE = re.compile(
    r"agent_runtime_(read_replica|reads_repeated|relay|tool_calls_total)"
    r"|http_response_status_code=~"
)
SCRAPES_MIN = 3


def queries() -> list[str]:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return [
        target["expr"] for panel in panels for target in panel.get("targets") or ()
    ] + [
        rule["expr"]
        for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"]
        for rule in group["rules"]
        if "record" in rule
    ]


class Prometheus:
    """A Prometheus that scrapes a service every second."""

    def __init__(self, folder: Path, target: str) -> None:
        scraping = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "scrape_configs": [
                {
                    "job_name": "agent-runtime-api",
                    "static_configs": [{"targets": [target]}],
                }
            ],
        }
        folder.mkdir()
        (folder / "prometheus.yml").write_text(json.dumps(scraping))
        [port] = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self.process = Process(
            [
                "prometheus",
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            log=folder / "log",
        )

    def ask(self, query: str) -> list[Any]:
        """Return the series of a query.

        :raises HTTPError: it is no PromQL, or fails
        """
        asked = f"{self.url}/api/v1/query?query={quote(query)}"
        with urlopen(asked) as answer:  # noqa: S310 # our own address
            result: list[Any] = json.load(answer)["data"]["result"]
        return result

    def has_scraped(self) -> bool:
        try:
            [found] = self.ask('sum_over_time(up{job="agent-runtime-api"}[1h])')
        except (OSError, ValueError):
            return False
        return int(found["value"][1]) >= SCRAPES_MIN


@contextmanager
def prometheus_of(service: DemoService, folder: Path) -> Iterator[Prometheus]:
    prometheus = Prometheus(folder, service.url.removeprefix("http://"))
    prometheus.process.start()
    try:
        until_blocking(prometheus.has_scraped)
        yield prometheus
    finally:
        prometheus.process.kill()


@pytest.mark.thorough
@pytest.mark.skipif(
    shutil.which("prometheus") is None and "CI" not in os.environ,
    reason="needs prometheus, of Debian's package of that name",
)
def test_every_query_finds_what_the_service_measures(tmp_path: Path) -> None:
    with (
        demo_service(tmp_path) as service,
        prometheus_of(service, tmp_path / "prometheus") as prometheus,
    ):
        token = (tmp_path / "data/admin-token").read_text("ascii").strip()
        headers = {"Authorization": f"Bearer {token}"}
        # The lag and position of the log are measured by a probe.
        for path in ("/readyz", "/api/users/me", "/api/observability/session/list"):
            request = Request(service.url + path, headers=headers)  # noqa: S310 # as above
            urlopen(request).close()  # noqa: S310 # as above
        found = {query for query in queries() if not NOT_HERE.search(query)}

        def empty() -> list[str]:
            return [query for query in found if not prometheus.ask(query)]

        # A rate needs two scrapes.
        with suppress(TimeoutError, AssertionError):
            until_blocking(lambda: not empty())
        assert empty() == []
        # Those of the parts that aren't here are PromQL all the same.
        for query in {*queries()} - found:
            prometheus.ask(query)
