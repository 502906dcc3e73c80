"""Every alert has a fault, and a row in the documents."""

import re
from pathlib import Path

import yaml

from tests.instruments.alerts.catalog import FAULTS
from tests.instruments.alerts.rules import RULES, alerts, scaled
from tests.support.project import ROOT

WHAT_TO_DO = ROOT / "docs/operations/alerts.md"
MEASURED = ROOT / "docs/operations/alerts-measured.md"
SOME = """\
groups:
  - name: some
    rules:
      - alert: Some
        expr: rate(one_total[5m]) > 30 and max_over_time(two[15m] offset 1h) > 0
        for: 2m
      - alert: Others
        expr: time() - three_seconds < 15 * 60
"""


def test_every_alert_has_a_fault() -> None:
    faults = [f"AgentRuntime{each.alert}" for each in FAULTS]

    assert sorted(faults) == sorted(each.name for each in alerts(RULES.read_text()))


def test_what_may_fire_with_another_is_an_alert() -> None:
    names = {each.alert for each in FAULTS}

    assert {also for each in FAULTS for also in each.also} <= names


def test_every_alert_is_documented_with_what_to_do() -> None:
    rows = rows_of(WHAT_TO_DO, columns=3)

    named = [f"AgentRuntime{alert}" for alert, *_ in rows]
    assert named == [each.name for each in alerts(RULES.read_text())]


def test_the_measured_alerts_and_faults_are_those_of_the_catalog() -> None:
    lasts = {each.name: each.lasts for each in alerts(RULES.read_text())}
    rows = rows_of(MEASURED, columns=5)

    assert [row[:3] for row in rows] == [
        [each.alert, lasts[f"AgentRuntime{each.alert}"], each.words] for each in FAULTS
    ]
    assert all(seconds.isdigit() for row in rows for seconds in row[3:])


def rows_of(page: Path, *, columns: int) -> list[list[str]]:
    """Return the rows below the heads of tables of that many columns."""
    lines = page.read_text("utf-8").splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| ")
    ]
    return [row for row in rows if len(row) == columns and row[0] != "alert"]


def test_durations_are_divided_and_thresholds_are_not() -> None:
    [group] = yaml.safe_load(scaled(SOME, 20))["groups"]

    assert group["rules"] == [
        {
            "alert": "Some",
            "expr": (
                "rate(one_total[15000ms]) > 30"
                " and max_over_time(two[45000ms] offset 180000ms) > 0"
            ),
            "for": "6000ms",
        },
        {"alert": "Others", "expr": "time() - three_seconds < 45"},
    ]


def test_the_rules_keep_no_duration_of_their_own() -> None:
    rest = scaled(RULES.read_text(), 20)

    assert re.findall(r"(?:for: |\[|offset )\d+[smhd]\b", rest) == []
    assert " * 60" not in rest
