"""Lookup of one page's sessions in Phoenix."""

import asyncio
from collections import defaultdict
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from projections.sessions.phoenix.answers import (
    BadRowError,
    enrichment_of,
    session_id_of,
)
from projections.sessions.phoenix.client import GraphQLAnswer, StoreError
from projections.sessions.phoenix.documents import (
    PER_DOCUMENT_MAX,
    Document,
    sessions_by_id,
    sessions_of_projects,
)
from projections.sessions.trace_store import Enrichment, SessionKey

T = TypeVar("T")

OTHER_FORM: Final = "it answered in another form"

Ask = Callable[[Document], Awaitable[GraphQLAnswer | None]]


@dataclass(slots=True)
class Lookup:
    """The sessions of one page: those still ``open``, and the ``found`` answers.

    A session whose answer is malformed is in neither: a retry would give the same.
    An answer of another form than a document's raises StoreError: it isn't Phoenix's,
    or a version's that this service doesn't know.
    """

    project: str | None
    open: dict[str, SessionKey] = field(default_factory=dict)
    found: dict[str, Enrichment | None] = field(default_factory=dict)
    has_settled_some: bool = False
    was_answered: bool = False
    has_malformed: bool = False

    def project_of(self, key: SessionKey) -> str:
        return self.project or str(key.agent_id)

    async def by_filters(self, ask: Ask) -> None:
        """Query all sessions of a project together, and several projects together."""
        of_project: defaultdict[str, list[str]] = defaultdict(list)
        for session_id, key in self.open.items():
            of_project[self.project_of(key)].append(session_id)
        await _all(
            self._some_projects(ask, dict(some))
            for some in _chunks(list(of_project.items()), PER_DOCUMENT_MAX)
        )

    async def by_ids(self, ask: Ask, at_once: int) -> None:
        await _all(
            self._some_ids(ask, some) for some in _chunks(list(self.open), at_once)
        )

    async def _some_projects(
        self, ask: Ask, wanted: Mapping[str, Sequence[str]]
    ) -> None:
        answer = await ask(sessions_of_projects(wanted))
        if answer is None:
            return
        self.was_answered = True
        for number, (project, session_ids) in enumerate(wanted.items()):
            alias = f"p{number}"
            if alias not in answer.failed:
                nodes = _nodes(_part(answer, alias))
                self._settle_project(project, session_ids, nodes)

    def _settle_project(
        self, project: str, session_ids: Sequence[str], nodes: Sequence[Any]
    ) -> None:
        by_id = {_session_id(node): node for node in nodes}
        for session_id in session_ids:
            if session_id in by_id:
                self._settle(session_id, by_id[session_id], project)
            else:
                self._found(session_id, None)

    async def _some_ids(self, ask: Ask, session_ids: Sequence[str]) -> None:
        answer = await ask(sessions_by_id(session_ids))
        if answer is None:
            return
        self.was_answered = True
        for number, session_id in enumerate(session_ids):
            alias = f"s{number}"
            if alias in answer.failed:
                self.open.pop(session_id)
            elif (node := _part(answer, alias)) is None:
                self._found(session_id, None)
            else:
                _session_id(node)
                project = self.project_of(self.open[session_id])
                self._settle(session_id, node, project)

    def _settle(self, session_id: str, node: Any, project: str) -> None:
        try:
            self._found(session_id, enrichment_of(node, session_id, project))
        except BadRowError:
            self.open.pop(session_id)
            self.has_malformed = True
            self.has_settled_some = True

    def _found(self, session_id: str, enrichment: Enrichment | None) -> None:
        del self.open[session_id]
        self.found[session_id] = enrichment
        self.has_settled_some = True


def _part(answer: GraphQLAnswer, alias: str) -> dict[str, Any] | None:
    """Return one part of an answer, an object or null."""
    part = answer.data.get(alias, OTHER_FORM)
    if part is not None and not isinstance(part, dict):
        raise StoreError(OTHER_FORM)
    return part


def _nodes(project: dict[str, Any] | None) -> Sequence[Any]:
    """Return the sessions of a project; an empty list if it doesn't exist."""
    if project is None:
        return []
    try:
        return [edge["node"] for edge in project["sessions"]["edges"]]
    except (KeyError, TypeError):
        raise StoreError(OTHER_FORM) from None


def _session_id(node: Any) -> str:
    try:
        return session_id_of(node)
    except BadRowError:
        raise StoreError(OTHER_FORM) from None


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently; the first failure cancels the others."""
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
