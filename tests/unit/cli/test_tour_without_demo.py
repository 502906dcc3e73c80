"""The tour without a demo."""

from pathlib import Path

import pytest

from service.cli.main import main
from service.cli.running import EXIT_FAILED
from service.demo.access import TOOLS_PORT_FILE


@pytest.mark.usefixtures("logging_as_it_was")
def test_without_a_demo_the_tour_says_how_to_start_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tour", "--data-dir", str(tmp_path)]) == EXIT_FAILED
    error = capsys.readouterr().err
    assert f"there is no demo in {tmp_path}" in error
    assert "make serve" in error


@pytest.mark.usefixtures("logging_as_it_was")
def test_the_tour_says_to_wait_while_the_demo_is_being_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / TOOLS_PORT_FILE).write_text("1")

    status = main(["tour", "--data-dir", str(tmp_path)])

    assert status == EXIT_FAILED
    assert "isn't loaded yet: wait until the service" in capsys.readouterr().err
