"""The tests' own report: a failure is named, whatever garbage its test leaves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import ROOT

# A long module, so that the collector runs while it is parsed.
MODULE = """\
import traceback


class Garbage:
    def __init__(self):
        self.itself = self

    def __del__(self):
        try:
            [] + [][0]
        except IndexError:
            traceback.format_exc()
        Garbage()  # for the next collection


def test_leaves_garbage():
    Garbage()
    raise ValueError


LONG = [
{lines}
]
"""
LINE = "    [{number}, (2, [3, (4, {{'5': 6}})])],"


@pytest.mark.thorough
def test_a_failure_is_named_though_its_garbage_is_collected_meanwhile(
    tmp_path: Path,
) -> None:
    lines = "\n".join(LINE.format(number=number) for number in range(2_000))
    module = tmp_path / "test_failing.py"
    module.write_text(MODULE.format(lines=lines))

    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "tests.support.failure_reports",
            str(module),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "FAILED test_failing.py::test_leaves_garbage - ValueError" in run.stdout
