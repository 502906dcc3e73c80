"""``make test-all``: its parts exist, and one that fails doesn't stop the others."""

from pathlib import Path

import pytest

from tests.all import main


def test_a_part_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Makefile").write_text(
        "first:\n\t@echo begun; false\nsecond:\n\t@echo CI=$$CI\n"
    )
    monkeypatch.chdir(tmp_path)

    status = main(["first", "second"])

    assert (status, main(["second"])) == (1, 0)
    printed = capfd.readouterr().out
    assert "begun\n" in printed
    assert "CI=true\n" in printed
    first, second = printed.partition("===== all parts")[2].splitlines()[1:3]
    assert first.split()[:2] == ["first", "FAILED"]
    assert second.split()[:2] == ["second", "passed"]
