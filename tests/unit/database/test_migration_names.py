"""Names of migrations are numbered without doubles."""

from service.migrate import (
    migrations,
)

NAMES = [each.name for each in migrations()]


def test_names_are_numbered_without_doubles() -> None:
    numbers = [name.split("_")[0] for name in NAMES]

    assert len(set(numbers)) == len(numbers)
    assert sorted(NAMES) == NAMES
