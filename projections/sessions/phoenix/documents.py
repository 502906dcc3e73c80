"""GraphQL documents that ask Phoenix about sessions.

Phoenix refuses a document with more than 50 aliases. The fields of a session need
two, once in a document; and a project in a filter, or a session, takes one more
together with those: 16 of either fit.
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
    """A query with its variables; whatever callers chose is in the variables."""

    query: str
    variables: Mapping[str, Any]


def sessions_of_projects(wanted: Mapping[str, Sequence[str]]) -> Document:
    """Ask for sessions by project; ``p0`` answers for the first project, and so on."""
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
    """Ask for sessions one by one; ``s0`` answers for the first, and so on."""
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
    """Return the filter for some sessions, in Phoenix's language of expressions."""
    return f"session_id in [{', '.join(map(quoted, session_ids))}]"


def quoted(text: str) -> str:
    """Write a text as a Python literal of harmless characters alone.

    Phoenix reads filters as Python expressions. Nothing in the literal can end it:
    all but ASCII letters, digits, ``-`` and ``_`` is escaped.
    """
    return "'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "-_"):
        return character
    return f"\\U{ord(character):08x}"


def _query(variables: Sequence[str], parts: Sequence[str]) -> str:
    return f"query({', '.join(variables)}) {{ {' '.join(parts)} }}\n{FIELDS}"
