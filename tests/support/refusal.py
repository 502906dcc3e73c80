"""What the command line says when it refuses."""

import pytest

from service.cli.main import main


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("agent-runtime: ")
    return status, err.removeprefix("agent-runtime: ").rstrip("\n")
