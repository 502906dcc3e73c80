"""docs/walkthrough.md, command by command, against a real service."""

from pathlib import Path

from tests.support.demo_service import demo_service
from tests.support.walkthrough import check_answers


def test_each_step_answers_as_shown(tmp_path: Path) -> None:
    with demo_service(tmp_path) as service:
        check_answers(service.run)
