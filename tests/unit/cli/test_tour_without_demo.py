"""The tour without a demo."""

from pathlib import Path

import pytest

from service.cli.main import main
from service.cli.running import EXIT_FAILED


@pytest.mark.usefixtures("logging_as_it_was")
def test_without_a_demo_the_tour_says_how_to_start_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tour", "--data-dir", str(tmp_path)]) == EXIT_FAILED
    error = capsys.readouterr().err
    assert f"there is no demo in {tmp_path}" in error
    assert "make serve" in error
