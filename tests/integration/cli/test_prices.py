"""What the import of a price list prints, and when it fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.cli.main import main
from service.cli.running import EXIT_FAILED

pytestmark = pytest.mark.usefixtures("logging_as_it_was")

SWIFT: Any = {
    "litellm_provider": "acme",
    "mode": "chat",
    "input_cost_per_token": 1e-6,
    "output_cost_per_token": 1e-6,
}


@pytest.fixture
def imported(
    capsys: pytest.CaptureFixture[str],
    data_dir: Path,
    database_url: str,
    tmp_path: Path,
) -> Any:
    def run(*confirmed: str, **models: Any) -> tuple[int, list[str]]:
        file = tmp_path / "prices.json"
        file.write_text(json.dumps(models))
        options = ["--data-dir", str(data_dir), "--database-url", database_url]
        options += [f"--confirm={name}" for name in confirmed]
        status = main(["prices", "import", str(file), *options])
        out, errors = capsys.readouterr()
        return status, [*errors.splitlines(), *out.splitlines()]

    return run


def test_each_skipped_row_is_named_with_its_field_and_reason(imported: Any) -> None:
    status, said = imported(
        swift=SWIFT,
        **{"acme/free": {**SWIFT, "output_cost_per_token_batches": "free"}},
        picture={"litellm_provider": "acme", "mode": "image_generation"},
    )

    assert "added acme/swift" in said
    assert (
        "skipped acme/free: output_cost_per_token_batches isn't a number"
        " (invalid_price)"
    ) in said
    assert any(line.startswith("skipped acme/picture: ") for line in said)
    assert "agent-runtime: 1 row has an invalid price: correct the list" in said
    assert status == EXIT_FAILED


def test_rows_that_are_no_models_are_no_failure(imported: Any) -> None:
    status, said = imported(
        swift=SWIFT,
        picture={"litellm_provider": "acme", "mode": "image_generation"},
    )

    assert said[-1].startswith("1 added, ")
    assert status == 0


def test_a_confirmed_name_that_the_list_lacks_is_a_failure(imported: Any) -> None:
    free = {**SWIFT, "input_cost_per_token": 0, "output_cost_per_token": 0}

    status, said = imported("acme/free,acme/swift", " acme/free ", free=free)

    assert "added acme/free" in said
    assert "confirmed acme/free,acme/swift: nothing of it is held back" in said
    assert status == EXIT_FAILED

    # The same command again: what it confirmed is there.
    status, said = imported("acme/free", free=free)
    assert "confirmed acme/free: nothing of it is held back" in said
    assert status == 0


def test_a_held_change_is_named_with_the_amounts_that_are_doubtful(
    imported: Any,
) -> None:
    batches = {**SWIFT, "input_cost_per_token_batches": 5e-7}
    imported(swift=batches)

    _, said = imported(swift={**batches, "input_cost_per_token_batches": 5e-6})

    [held] = [line for line in said if line.startswith("held acme/swift: ")]
    assert held.endswith(
        "; price of 1,000,000 input_tokens (processing batch): 0.5 before, 5 after"
    )
