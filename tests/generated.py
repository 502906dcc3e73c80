"""Write what is generated from the code: ``make generated``.

With ``--check``, say what is outdated instead: ``make check``. The examples of the
OpenAPI document are real answers, with ids of their own: they are recorded again only
where they no longer fit.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from client.generator.write import files as client_files
from client.generator.write import leftovers
from deploy.grafana.dashboards import files as monitoring_files
from docs.generator.write import files as reference_pages
from projections.event_contract import BrokenContractError
from projections.event_contract import files as event_documents
from tests.support.golden_events import missing_files
from tests.support.openapi.exemplified import outdated_examples

RECORD_EXAMPLES: Final = (
    *(sys.executable, "-m", "pytest", "--quiet", "--numprocesses", "0"),
    *("-k", "answers_as_described", "tests/integration/openapi/test_examples.py"),
)


def files(project: Path) -> dict[Path, bytes]:
    """Return the content of every generated file, by path in the project.

    Of the golden files of events and aggregates, those that are missing: the others
    say what is stored, and never change.

    :raises BrokenContractError: a published schema would change incompatibly
    """
    texts = client_files(project) | reference_pages() | monitoring_files()
    made = {path: text.encode() for path, text in texts.items()}
    return made | event_documents(project) | missing_files()


def outdated(project: Path, made: Mapping[Path, bytes]) -> list[str]:
    """Return the generated files that are missing, different, or no longer made."""
    different = [
        path
        for path, content in made.items()
        if not (project / path).exists() or (project / path).read_bytes() != content
    ]
    return [*map(str, different), *map(str, leftovers(project, made))]


def write(project: Path, made: Mapping[Path, bytes]) -> None:
    for path in leftovers(project, made):
        (project / path).unlink()
    for path, content in made.items():
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def main(arguments: list[str]) -> int:
    project = Path.cwd()
    try:
        made = files(project)
    except (BrokenContractError, OSError, ValueError) as error:
        print(error)
        return 1
    if "--check" in arguments:
        if found := [*outdated(project, made), *outdated_examples()]:
            print("outdated; run make generated:", *found, sep="\n  ")
        return int(bool(found))
    write(project, made)
    if not [*outdated_examples()]:
        return 0
    environment = {**os.environ, "RECORD_EXAMPLES": "1"}
    done = subprocess.run(RECORD_EXAMPLES, env=environment, check=False)
    if done.returncode == 0 and (left := [*outdated_examples()]):
        how = "still outdated; change how tests/support/*/operations.py call these:"
        print(how, *left, sep="\n  ")
        return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
