"""The rules for Prometheus, by its own tool: promtool."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.project import ROOT

RULES = ROOT / "deploy/prometheus/rules.yaml"
TESTS = Path(__file__).parent / "rules_test.yaml"
needs_promtool = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        shutil.which("promtool") is None and "CI" not in os.environ,
        reason="needs promtool, of Debian's package prometheus",
    ),
]


def changed_tests(rules: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the tests on other rules than the deployed ones."""
    (folder / "rules.yaml").write_text(rules)
    tests = folder / TESTS.name
    named = "../../deploy/prometheus/rules.yaml"
    text = TESTS.read_text()
    assert text.count(named) == 1
    tests.write_text(text.replace(named, "rules.yaml"))
    return promtool_tests(tests)


def promtool_tests(tests: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["promtool", "test", "rules", str(tests)],
        capture_output=True,
        text=True,
        check=False,
    )


class TestByPromtool:
    pytestmark = needs_promtool

    def test_each_alert_fires_on_its_fault_and_on_no_other(self) -> None:
        done = promtool_tests(TESTS)

        assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.parametrize("alert", re.findall(r"alert: (\w+)", RULES.read_text()))
    def test_an_alert_that_never_fires_is_found(
        self, alert: str, tmp_path: Path
    ) -> None:
        rules = re.sub(
            rf"(alert: {alert}\n(?: +#.*\n)? +expr: ).*",
            r"\1vector(1) > 2",
            RULES.read_text(),
        )

        assert changed_tests(rules, tmp_path).returncode != 0

    def test_a_rule_that_is_no_promql_is_found(self, tmp_path: Path) -> None:
        rules = RULES.read_text().replace("max by (follower)", "max bye (follower)")

        assert changed_tests(rules, tmp_path).returncode != 0
