"""The rules for Prometheus name the service's metrics."""

import re

from tests.support.project import ROOT

RULES = ROOT / "deploy/prometheus/rules.yaml"
SUFFIXES = ("_bucket", "_count", "_sum", "_total")


def test_every_metric_of_the_rules_exists() -> None:
    used = set(re.findall(r"\b(?:agent_runtime|http_server)_\w+", RULES.read_text()))
    code = "\n".join(
        path.read_text("utf-8")
        for folder in ("service", "projections")
        for path in (ROOT / folder).rglob("*.py")
    )
    defined = set(re.findall(r"\b(?:Gauge|Counter|Histogram)\(\s*\"([a-z_]+)\"", code))
    defined |= {name.removesuffix("_total") for name in defined}
    # Labels and rules' own names stand between colons.
    recorded = {"http_server_errors"}

    assert {without_suffix(name) for name in used} - recorded - defined == set()


def without_suffix(name: str) -> str:
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name
