"""The README's first calls answer."""

from pathlib import Path

from tests.support.demo_service import demo_service
from tests.support.readme import check_calls


def test_the_first_calls_answer(tmp_path: Path) -> None:
    with demo_service(tmp_path) as service:
        check_calls(service.run)
