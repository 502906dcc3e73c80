"""Observe and accept tool definitions: commands and handlers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson

from service.connectors.aggregate import Connector
from service.connectors.commands import visible_connector
from service.connectors.policy import may_share
from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.bounds import DEFAULT_BOUNDS, Bounds
from service.gateway.definition import ToolDefinition
from service.gateway.definitions.acceptable import (
    CREDENTIAL_RETURNED,
    DOCUMENT_BYTES_MAX,
    why_unacceptable,
)
from service.gateway.gate import ObservedTools
from service.pacing import in_thread
from service.tool_definitions.aggregate import (
    Standing,
    StoredDefinition,
    ToolDefinitions,
)

# Shown for a definition that is too large to keep, or has its upstream's credential.
LEFT_OUT: Final = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveDefinitions:
    """The complete list of an upstream's tools, as the server at ``url`` gave it."""

    connector_id: UUID
    url: str
    definitions: Sequence[ToolDefinition]
    bounds: Bounds = DEFAULT_BOUNDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDefinitions:
    connector_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptDefinitions:
    """Tool to the digest that the caller has seen."""

    connector_id: UUID
    digests: Mapping[str, str]


async def observe_definitions(
    command: ObserveDefinitions, work: UnitOfWork
) -> ObservedTools | None:
    """Record what an upstream lists, where it differs from before.

    What is more than the bounds allow is left out: new tools, the last ones first.
    A connector that doesn't exist any more, or has another URL, is left as it is: None.
    """
    connector = await work.find(Connector, command.connector_id)
    if connector is None or connector.is_retired or connector.url != command.url:
        return None
    found = await work.find(ToolDefinitions, ToolDefinitions.id_for(connector.id))
    definitions = found or ToolDefinitions(connector_id=str(connector.id))
    documents: dict[str, StoredDefinition] = {}
    unacceptable: dict[str, str] = {}
    bytes_kept = 0
    listed = _known_first(command.definitions, definitions)
    for each in listed[: command.bounds.tools_max]:
        # Keys stay in the server's order: models fill in arguments in that of schemas.
        written = orjson.dumps(each.document)
        # Many large schemas take seconds.
        reason = await in_thread(why_unacceptable, each.document, len(written))
        kept = LEFT_OUT.encode() if len(written) > DOCUMENT_BYTES_MAX else written
        if each.has_credential:
            reason, kept = CREDENTIAL_RETURNED, LEFT_OUT.encode()
        bytes_kept += len(kept) + len(each.name)
        if bytes_kept > command.bounds.definitions_bytes:
            break
        documents[each.name] = {"digest": each.digest, "document": kept.decode()}
        if reason is not None:
            unacceptable[each.name] = reason
    changed = definitions.observe(documents, unacceptable)
    if changed:
        work.save(definitions)
    return ObservedTools(
        is_changed=changed,
        tools=len(documents),
        left_out=[each.name for each in listed if each.name not in documents],
    )


def _known_first(
    listed: Sequence[ToolDefinition], known: ToolDefinitions
) -> list[ToolDefinition]:
    """Order tools so that a new one never takes the room of an accepted one."""

    def rank(definition: ToolDefinition) -> int:
        if definition.name in known.accepted:
            return 0
        return 1 if definition.name in known.observed else 2

    return sorted(listed, key=rank)


async def read_definitions(
    command: ReadDefinitions, work: UnitOfWork
) -> ToolDefinitions | None:
    """Return the definitions of a connector; None before the first observation.

    :raises NotFoundError: there is no such connector, or none that the caller can see
    """
    connector = await visible_connector(work, command.connector_id)
    return await work.find(ToolDefinitions, ToolDefinitions.id_for(connector.id))


async def accept_definitions(
    command: AcceptDefinitions, work: UnitOfWork
) -> tuple[ToolDefinitions, bool]:
    """Accept observed definitions; return them, and whether anything differs.

    :raises NotFoundError: there is no such connector, or none that the caller can see;
        or no tool of this name is listed
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    :raises ConflictError: the upstream lists another definition by now, or the
        definition can't be accepted
    """
    connector = await visible_connector(work, command.connector_id)
    if not may_share(work.principal, connector):
        raise ForbiddenError("only its owner and superusers change this connector")
    found = await work.find(ToolDefinitions, ToolDefinitions.id_for(connector.id))
    work.match(found)
    for tool, digest in command.digests.items():
        _refuse_unless_listed(found, tool, digest)
    if found is None:
        raise NotFoundError("no tools of this connector were observed yet")
    changed = found.accept([*command.digests])
    work.save(found)
    return found, changed


def _refuse_unless_listed(
    definitions: ToolDefinitions | None, tool: str, digest: str
) -> None:
    where = f"definitions.{tool}"
    observed = definitions.observed.get(tool) if definitions else None
    if definitions is None or observed is None:
        raise NotFoundError(
            "the connector lists no such tool",
            problems=[Problem(where, "no such tool")],
        )
    if definitions.standing(tool) is Standing.UNACCEPTABLE:
        raise ConflictError(
            "this definition can't be accepted",
            code="definition_unacceptable",
            problems=[Problem(where, definitions.unacceptable[tool])],
        )
    if observed["digest"] != digest:
        raise ConflictError(
            "the connector now lists another definition; read it first",
            code="definition_changed",
            problems=[Problem(where, "has another digest")],
        )
