"""Which modules ``pytest -m fast`` imports."""

from pathlib import Path

import pytest

from tests.fast_modules import may_hold_fast_test

MODULE = """
import pytest
{marks}
@pytest.fixture
async def agent(callers: Callers) -> Agent:
    ...

{decorators}async def test_something(
    agent: Agent, mapping: dict[str, int]
) -> None:
    ...
"""


def module(folder: Path, text: str = MODULE, **parts: str) -> Path:
    path = folder / "test_made.py"
    path.write_text(text.format(**{"marks": "", "decorators": "", **parts}))
    return path


def test_no_fast_test_is_left_out(request: pytest.FixtureRequest) -> None:
    fast = {
        item.path for item in request.session.items if item.get_closest_marker("fast")
    }

    assert fast
    assert [path for path in fast if not may_hold_fast_test(path)] == []


def test_a_fixture_of_the_module_is_followed_to_a_server() -> None:
    # Both have modules of their own here, and conftests that need PostgreSQL.
    folder = Path(__file__).parent

    assert not may_hold_fast_test(folder / "users/test_routes.py")
    assert may_hold_fast_test(folder / "users/test_policy.py")


@pytest.mark.parametrize(
    "parts",
    [
        {"marks": "pytestmark = pytest.mark.slow"},
        {"marks": "pytestmark = [\n    pytest.mark.kafka,\n    pytest.mark.faults,\n]"},
        {"decorators": "@pytest.mark.processes\n"},
        {"decorators": "@pytest.mark.skipif(\n    True\n)\n@pytest.mark.slow\n"},
        {"decorators": '@pytest.mark.usefixtures("postgres")\n'},
    ],
)
def test_a_module_is_left_out_by_its_marks(
    tmp_path: Path, parts: dict[str, str]
) -> None:
    assert may_hold_fast_test(module(tmp_path))
    assert not may_hold_fast_test(module(tmp_path, **parts))


def test_one_fast_test_is_enough(tmp_path: Path) -> None:
    marked = MODULE.format(marks="", decorators="@pytest.mark.slow\n")

    assert may_hold_fast_test(module(tmp_path, f"{marked}\ndef test_b() -> None: ..."))
