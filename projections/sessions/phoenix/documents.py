"""GraphQL documents that query Phoenix for sessions.

Phoenix rejects documents with more than 50 aliases. Each project or session in a
document takes three, of which two are for the fields: 16 fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

PER_DOCUMENT_MAX: Final = 16

FIELDS: Final = """
fragment Fields on ProjectSession {
  sessionId
  project { name }
  numTraces
  numTracesWithError
  tokenUsage { prompt completion total }
  costSummary { total { cost tokens } }
  p50: traceLatencyMsQuantile(probability: 0.5)
  p99: traceLatencyMsQuantile(probability: 0.99)
  sessionAnnotations {
    id name annotatorKind label score explanation metadata identifier source
    createdAt updatedAt user { username }
  }
  sessionAnnotationSummaries {
    name count labels meanScore scoreCount labelCount
    labelFractions { label fraction }
  }
}
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A query and its variables; values chosen by callers are in the variables."""

    query: str
    variables: Mapping[str, Any]


def sessions_of_projects(wanted: Mapping[str, Sequence[str]]) -> Document:
    """Query sessions by project; alias ``p0`` is the first project, and so on."""
    assert len(wanted) <= PER_DOCUMENT_MAX
    names: list[str] = []
    parts: list[str] = []
    variables: dict[str, Any] = {}
    for number, (project, session_ids) in enumerate(wanted.items()):
        names.append(f"$n{number}: String!, $c{number}: String!")
        parts.append(
            f"p{number}: getProjectByName(name: $n{number}) {{"
            f" sessions(first: {len(session_ids)}, sessionFilterCondition: $c{number})"
            " { edges { node { ...Fields } } } }"
        )
        variables[f"n{number}"] = project
        variables[f"c{number}"] = is_one_of(session_ids)
    return Document(_query(names, parts), variables)


def sessions_by_id(session_ids: Sequence[str]) -> Document:
    """Query sessions by id; alias ``s0`` is the first session, and so on."""
    assert len(session_ids) <= PER_DOCUMENT_MAX
    numbers = range(len(session_ids))
    return Document(
        _query(
            [f"$s{number}: String!" for number in numbers],
            [
                f"s{number}: getProjectSessionById(sessionId: $s{number})"
                " { ...Fields }"
                for number in numbers
            ],
        ),
        {f"s{number}": session_ids[number] for number in numbers},
    )


def is_one_of(session_ids: Sequence[str]) -> str:
    """Return the filter for some sessions, in Phoenix's expression language."""
    return f"session_id in [{', '.join(map(quoted, session_ids))}]"


def quoted(text: str) -> str:
    """Return a text as a Python string literal without special characters.

    Phoenix parses filters as Python expressions. Nothing can end the literal early:
    everything but ASCII letters, digits, ``-`` and ``_`` is escaped.
    """
    return "'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "-_"):
        return character
    return f"\\U{ord(character):08x}"


def _query(variables: Sequence[str], parts: Sequence[str]) -> str:
    return f"query({', '.join(variables)}) {{ {' '.join(parts)} }}\n{FIELDS}"
