"""The generated dashboard and recording rules are up to date."""

from deploy.grafana.dashboards import DASHBOARD, RULE, dashboard, prometheus_rule


def test_what_is_generated_is_up_to_date() -> None:
    """``make monitoring`` generates both."""
    assert DASHBOARD.read_text("utf-8") == dashboard()
    assert RULE.read_text("utf-8") == prometheus_rule()
