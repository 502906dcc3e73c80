"""Generates what Grafana and the Prometheus Operator read: ``make generated``.

``agent-runtime.json`` is a dashboard, ``prometheus-rule.yaml`` the rules of
``deploy/prometheus/rules.yaml`` as a resource of Kubernetes.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import yaml
from grafana_foundation_sdk.builders.common import VizLegendOptions
from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DatasourceVariable,
    Row,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement
from grafana_foundation_sdk.models.dashboard import DataSourceRef

DEPLOY: Final = Path(__file__).parent.parent
DASHBOARD: Final = DEPLOY / "grafana/agent-runtime.json"
RULE: Final = DEPLOY / "prometheus/prometheus-rule.yaml"
SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
JOBS: Final = 'job=~"agent-runtime.*"'
WIDTH: Final = 8

# Rows of panels: title, unit, and queries by legend.
ROWS: Final[Mapping[str, Iterable[tuple[str, str, Mapping[str, str]]]]] = {
    "Requests": [
        (
            "Requests",
            "reqps",
            {
                "{{http_response_status_code}}": "sum by (http_response_status_code) "
                f"(rate(http_server_request_duration_seconds_count{{{JOBS}}}[5m]))"
            },
        ),
        (
            "Time to answer, 99 of 100",
            "s",
            {
                "{{http_route}}": "topk(10, histogram_quantile(0.99, "
                "sum by (http_route, le) "
                f"(rate(http_server_request_duration_seconds_bucket{{{JOBS}}}[5m]))))"
            },
        ),
        (
            "Event loop's delay, 99 of 100",
            "s",
            {
                "{{job}} {{instance}}": "histogram_quantile(0.99, "
                "sum by (job, instance, le) "
                f"(rate(agent_runtime_event_loop_delay_seconds_bucket{{{JOBS}}}[5m])))"
            },
        ),
    ],
    "Commits": [
        (
            "Commands",
            "ops",
            {
                "{{outcome}}": "sum by (outcome) "
                f"(rate(agent_runtime_commands_total{{{JOBS}}}[5m]))"
            },
        ),
        (
            "Commit, and its wait for the log's end, 99 of 100",
            "s",
            {
                f"{legend} {{{{job}}}}": "histogram_quantile(0.99, sum by (job, le) "
                f"(rate(agent_runtime_append_{name}_seconds_bucket{{{JOBS}}}[5m])))"
                for legend, name in (("commit", "duration"), ("wait", "lock_wait"))
            },
        ),
        (
            "Commands in a commit",
            "short",
            {
                "{{job}}": "sum by (job) "
                f"(rate(agent_runtime_append_batch_commands_sum{{{JOBS}}}[5m])) / "
                "sum by (job) "
                f"(rate(agent_runtime_append_batch_commands_count{{{JOBS}}}[5m]))"
            },
        ),
    ],
    "Database": [
        (
            "Wait for a connection, 99 of 100",
            "s",
            {
                "{{job}}": "histogram_quantile(0.99, sum by (job, le) "
                f"(rate(agent_runtime_pool_wait_seconds_bucket{{{JOBS}}}[5m])))"
            },
        ),
        (
            "Events that a fail-over could undo",
            "short",
            {
                "events": f"max(agent_runtime_log_position{{{JOBS}}}) - "
                f"max(agent_runtime_durable_position{{{JOBS}}})"
            },
        ),
        (
            "Reads",
            "ops",
            {
                "{{server}}": "sum by (server) "
                f"(rate(agent_runtime_reads_total{{{JOBS}}}[5m]))",
                "repeated: {{reason}}": "sum by (reason) "
                f"(rate(agent_runtime_reads_repeated_total{{{JOBS}}}[5m]))",
            },
        ),
        (
            "Read replica's lag",
            "s",
            {
                "{{replica}}": "max by (replica) "
                f"(agent_runtime_read_replica_lag_seconds{{{JOBS}}})"
            },
        ),
        (
            "Database on disk, and the room there",
            "bytes",
            {
                "tables and indexes": f"max(agent_runtime_database_bytes{{{JOBS}}})",
                "free": f"min(agent_runtime_disk_free_bytes{{{JOBS}}})",
            },
        ),
    ],
    "Read tables and Kafka": [
        (
            "Followers' lag",
            "short",
            {
                "{{follower}}": "max by (follower) "
                f"(agent_runtime_follower_lag_events{{{JOBS}}})"
            },
        ),
        (
            "Followers that have stopped",
            "short",
            {
                "{{follower}}": "max by (follower) "
                f"(agent_runtime_follower_stopped{{{JOBS}}})"
            },
        ),
        (
            "Events published",
            "ops",
            {
                "events": f"sum(rate(agent_runtime_relay_events_total{{{JOBS}}}[5m]))",
                "transactions": "sum(rate("
                f"agent_runtime_relay_transactions_total{{{JOBS}}}[5m]))",
            },
        ),
        (
            "Age of the oldest unpublished event",
            "s",
            {"age": f"max(agent_runtime_relay_lag_seconds{{{JOBS}}})"},
        ),
    ],
    "Tool calls": [
        (
            "Decisions",
            "ops",
            {
                "{{decision}}": "sum by (decision) "
                f"(rate(agent_runtime_tool_calls_total{{{JOBS}}}[5m]))"
            },
        ),
        (
            "Time in the gateway and upstream, 99 of 100",
            "s",
            {
                name: "histogram_quantile(0.99, sum by (le) "
                f"(rate(agent_runtime_tool_call_{name}_seconds_bucket{{{JOBS}}}[5m])))"
                for name in ("gateway", "upstream")
            },
        ),
        (
            "Calls in flight",
            "short",
            {"calls": f"sum(agent_runtime_gateway_calls_in_flight{{{JOBS}}})"},
        ),
    ],
    "Processes": [
        (
            "CPU",
            "percentunit",
            {"{{job}} {{instance}}": f"rate(process_cpu_seconds_total{{{JOBS}}}[5m])"},
        ),
        (
            "Memory",
            "bytes",
            {"{{job}} {{instance}}": f"process_resident_memory_bytes{{{JOBS}}}"},
        ),
        (
            "Open files",
            "short",
            {"{{job}} {{instance}}": f"process_open_fds{{{JOBS}}}"},
        ),
    ],
}


def legend() -> VizLegendOptions:
    return (
        VizLegendOptions()
        .show_legend(True)  # noqa: FBT003 # the library's
        .display_mode(LegendDisplayMode.LIST)
        .placement(LegendPlacement.BOTTOM)
    )


def dashboard() -> str:
    """Return the dashboard's JSON."""
    board = (
        Dashboard("Agent runtime")
        .uid("agent-runtime")
        .tags(["agent-runtime"])
        .refresh("30s")
        .time("now-3h", "now")
        .with_variable(
            DatasourceVariable("datasource").label("Prometheus").type("prometheus")
        )
    )
    for row, panels in ROWS.items():
        board = board.with_row(Row(row))
        for title, unit, queries in panels:
            panel = Panel().title(title).unit(unit).min(0).datasource(SOURCE)
            panel = panel.span(WIDTH).height(8).legend(legend())
            for ref, (name, expr) in zip("ABC", queries.items(), strict=False):
                query = Dataquery().expr(expr).legend_format(name)
                panel = panel.with_target(query.datasource(SOURCE).ref_id(ref))
            board = board.with_panel(panel)
    return json.dumps(board.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


def prometheus_rule() -> str:
    """Return the rules as a PrometheusRule."""
    rules = yaml.safe_load((DEPLOY / "prometheus/rules.yaml").read_text("utf-8"))
    resource = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "agent-runtime"},
        "spec": rules,
    }
    head = "# Generated from rules.yaml by make generated.\n"
    text: str = yaml.safe_dump(resource, sort_keys=False, width=1000)
    return head + text


def files() -> dict[Path, str]:
    """Return the content of both, by path in the project."""
    project = DEPLOY.parent
    return {
        DASHBOARD.relative_to(project): dashboard(),
        RULE.relative_to(project): prometheus_rule(),
    }
