"""The broker's jars: fetched once into a folder outside git."""

import fcntl
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.project import ROOT

POM = Path(__file__).with_name("pom.xml")
NOT_TESTED = "NOT TESTED on a real Kafka broker"
FETCH = ROOT / ".ci" / "kafka"


class MissingError(Exception):
    """What this machine lacks for a broker of its own."""


def broker_libs() -> Path:
    if shutil.which("java") is None:
        raise MissingError("there is no Java 17 to run it")
    if given := os.environ.get("KAFKA_LIBS"):
        return Path(given)
    libs = ROOT / ".kafka" / "libs"
    libs.parent.mkdir(exist_ok=True)
    # Test workers start at the same moment; the first one fetches for all.
    with (libs.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (libs / f"kafka_2.13-{kafka_version()}.jar").exists():
            fetch(libs)
    return libs


def go_without_broker(missing: MissingError) -> NoReturn:
    """Skip, but never in CI: there it would go unnoticed forever."""
    complaint = f"{NOT_TESTED}: {missing}"
    if os.environ.get("CI"):
        pytest.fail(complaint)
    pytest.skip(complaint)


def kafka_version() -> str:
    namespace = "{http://maven.apache.org/POM/4.0.0}"
    version = ET.parse(POM).findtext(f".//{namespace}kafka.version")  # noqa: S314
    assert version is not None
    return version


def fetch(libs: Path) -> None:
    if shutil.which("mvn") is None:
        raise MissingError("there is no Maven to fetch its jars")
    done = subprocess.run(
        [FETCH, libs], capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        raise MissingError(f"its jars can't be fetched: {done.stdout[-500:]}")
