"""The broker that the other tests stand on, and what happens without one."""

import os
from pathlib import Path

import pytest

from tests.support.harness.process import ending_with_parent
from tests.support.kafka.jars import (
    MissingError,
    broker_libs,
    go_without_broker,
    kafka_version,
)


def test_a_broker_needs_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="Java"):
        broker_libs()


def test_jars_that_are_already_there_need_no_maven(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    java = tmp_path / "java"
    java.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KAFKA_LIBS", "/somewhere")
    assert broker_libs() == Path("/somewhere")


def test_without_a_broker_tests_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"NOT TESTED.*no Java"):
        go_without_broker(MissingError("no Java"))


def test_without_a_broker_ci_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"NOT TESTED.*no Java"):
        go_without_broker(MissingError("no Java"))


def test_the_version_is_read_from_the_build_file() -> None:
    assert kafka_version().startswith("4.")


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="a promise of Linux only")
def test_the_broker_dies_with_the_tests() -> None:
    assert "--pdeathsig" in ending_with_parent()
