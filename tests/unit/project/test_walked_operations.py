"""A mistake in a folder's part of the authorization matrix is named."""

import pytest

from tests.support.operations.declaration import CALLERS, WalkedOperations

HEAD = " ".join(CALLERS)


def test_each_line_is_an_operation_with_a_status_for_each_caller() -> None:
    walked = WalkedOperations(access=f"{HEAD}\n get_me 200 200 200 200 403\n")

    (statuses,) = [walked.matrix["get_me"]]
    assert (statuses["stranger"], statuses["reader"]) == (200, 403)


@pytest.mark.parametrize(
    "lines",
    [
        "get_me 200 200 200 200",
        "get_me 200 200 200 200 200 200",
        "get_me 200 200 2OO 200 200",
        "get_me 200 200 200 200 200\nget_me 500 500 500 500 500",
    ],
    ids=["too few", "too many", "no number", "twice"],
)
def test_a_mistake_in_a_line_is_named(lines: str) -> None:
    walked = WalkedOperations(access=f"{HEAD}\n{lines}")

    with pytest.raises(ValueError, match=r"^get_me needs one line in ACCESS"):
        _ = walked.matrix
