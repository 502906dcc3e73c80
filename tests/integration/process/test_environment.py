"""A start under environment variables that libraries read."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from service.cli.running import EXIT_CONFIG
from tests.support.harness.service import agent_runtime, running, serving

WITHOUT_UTF8: Mapping[str, str] = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}
ODD: Mapping[str, str] = {
    "PSYCOPG_IMPL": "nonsense",
    "PYTHONIOENCODING": "ascii",
    "PROMETHEUS_MULTIPROC_DIR": "/nonexistent",
    "SSL_CERT_FILE": "/nonexistent",
    "TZ": "nonsense/x",
    "http_proxy": "http://127.0.0.1:9",
}


def test_what_libraries_read_does_not_stop_a_start(tmp_path: Path) -> None:
    # The TLS library opens it as soon as it is imported.
    keys = tmp_path / "missing" / "session keys"
    settings = {**ODD, "SSLKEYLOGFILE": str(keys)}
    where = ("--data-dir", str(tmp_path / "代理-data"))
    log = tmp_path / "log"

    with running(serving(*where, log=log, settings=settings)) as server:
        assert server.admin_token
        done = agent_runtime("doctor", *where, settings=settings)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "代理-data" in log.read_text(encoding="utf-8")


def test_a_locale_without_utf8_is_refused(tmp_path: Path) -> None:
    done = agent_runtime("serve", "--data-dir", str(tmp_path), settings=WITHOUT_UTF8)

    assert done.returncode == EXIT_CONFIG
    assert "not UTF-8: set PYTHONUTF8=1" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_variable_that_the_sdk_of_spans_refuses_is_named(
    tmp_path: Path, database_url: str
) -> None:
    done = agent_runtime(
        *("serve", "--port", "0", "--data-dir", str(tmp_path)),
        *("--database-url", database_url, "--otlp-endpoint", "http://127.0.0.1:9/v1"),
        settings={"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "x"},
    )

    assert done.returncode == EXIT_CONFIG
    assert "can't be used: OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT must be" in done.stderr


@pytest.mark.parametrize("command", ["serve", "doctor"])
def test_a_path_that_is_not_utf8_is_refused(command: str, tmp_path: Path) -> None:
    path = f"{tmp_path}/\udce9"

    done = agent_runtime(command, settings={"AGENT_RUNTIME_DATA_DIR": path})

    assert done.returncode == EXIT_CONFIG
    assert "AGENT_RUNTIME_DATA_DIR: not in UTF-8" in done.stderr
    assert not list(tmp_path.iterdir())
