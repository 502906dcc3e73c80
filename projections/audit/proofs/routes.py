"""Checkpoints and proofs over HTTP."""

import base64
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.merkle import (
    InvalidProofError,
    require_consistency,
    require_inclusion,
)
from agent_runtime_client.proofs.note import NoteError, VerifierKey
from projections.audit.proofs.leaf import hash_of
from projections.audit.proofs.queries import (
    SignedCheckpoint,
    checkpoint_of,
    consistency_proof,
    inclusion_proof,
    latest_checkpoint,
)
from projections.audit.proofs.table import IncompleteTreeError
from projections.engine.snapshot import Snapshot, reading
from service.errors import MalformedRequestError, Problem, UnavailableError
from service.event_log.stored_entries import entries_at
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.read_server import read_server
from service.http.requests import POSITION_MAX, QueryModel

routes = Routes("audit")
logger = logging.getLogger(__name__)

FOLLOWER = "merkle_tree"
NO_CHECKPOINT = (
    "no checkpoint has been signed yet (`no_checkpoint_yet`), or the service is "
    "temporarily unavailable"
)
NO_PROOF = (
    "the event log contradicts its Merkle tree, so there is no proof "
    "(`log_contradicted`), or the service is temporarily unavailable"
)
Size = Annotated[int, Field(ge=1, le=POSITION_MAX)]


class InclusionQuery(QueryModel):
    position: Annotated[Size, Field(description="The entry's position in the log.")]
    size: Annotated[Size | None, Field(description="The tree's size, in entries.")] = (
        None
    )


class ConsistencyQuery(QueryModel):
    first: Annotated[
        Size, Field(description="The size of the smaller tree, in entries.")
    ]
    second: Annotated[
        Size | None, Field(description="The size of the larger tree, in entries.")
    ] = None


class CheckpointKey(TypedDict):
    """The key as ``name+id+key``, the format of C2SP signed-note tools."""

    public_key: str


class Inclusion(TypedDict):
    """Hashes in base64; ``checkpoint`` is the signed one of that size, if kept."""

    position: int
    leaf_index: int
    tree_size: int
    leaf_hash: str
    root_hash: str
    hashes: list[str]
    checkpoint: str | None


class Consistency(TypedDict):
    """Hashes in base64; ``checkpoint`` is the signed one of the second size, if any."""

    first_size: int
    first_root: str
    second_size: int
    second_root: str
    hashes: list[str]
    checkpoint: str | None


@routes.get(
    "/api/audit/checkpoint",
    answers={200: "the checkpoint, as a C2SP signed note", 503: NO_CHECKPOINT},
    content_type="text/plain",
)
async def get_checkpoint(request: web.Request) -> web.Response:
    """Get the newest signed checkpoint of the log's Merkle tree.

    A few seconds behind the log. Keep it to be able to prove later that earlier entries
    weren't rewritten.
    """
    checkpoint = await _checkpoint(request)
    return web.Response(text=checkpoint.note, content_type="text/plain")


@routes.get(
    "/api/audit/checkpoint/key",
    answers={200: "key of the checkpoints", 503: NO_CHECKPOINT},
)
async def get_checkpoint_key(request: web.Request) -> Answer[CheckpointKey]:
    """Get the public key of the checkpoints' signatures.

    A compromised service could return another key: compare it with one that you saved
    earlier or got from the operator.
    """
    checkpoint = await _checkpoint(request)
    return Answer(
        message="key of the checkpoints",
        data=CheckpointKey(public_key=checkpoint.public_key),
    )


@routes.get(
    "/api/audit/proofs/inclusion",
    answers={200: "inclusion proved", 503: NO_PROOF},
    min_position=True,
)
async def get_inclusion_proof(
    request: web.Request, query: InclusionQuery
) -> Answer[Inclusion]:
    """Prove that the tree of a given size contains an entry.

    By default ``size`` is that of the newest checkpoint, or the current size of the
    tree for a position after that checkpoint.
    """
    async with reading(request, FOLLOWER) as snapshot:
        checkpoint = await latest_checkpoint(snapshot.db)
        size = query.size
        if size is None:
            covered = checkpoint is not None and checkpoint.size >= query.position
            size = checkpoint.size if checkpoint and covered else snapshot.position
        _refuse_beyond(snapshot, size=size)
        if query.position > size:
            raise MalformedRequestError(
                f"a tree of size {size} doesn't hold that position",
                problems=[Problem("position", "beyond the tree")],
            )
        with _contradictions_refused():
            proof = await inclusion_proof(
                snapshot.db, position=query.position, size=size
            )
        signed = await checkpoint_of(snapshot.db, size)
        entries = await entries_at(snapshot.db, [query.position])
    with _contradictions_refused():
        if [hash_of(each) for each in entries] != [proof.leaf]:
            raise InvalidProofError(f"the event at {query.position} isn't the leaf")
        require_inclusion(proof.leaf, query.position - 1, size, proof.path, proof.root)
        _require_signed(signed, size, proof.root)
    data: Inclusion = {
        "position": query.position,
        "leaf_index": query.position - 1,
        "tree_size": size,
        "leaf_hash": _encoded(proof.leaf),
        "root_hash": _encoded(proof.root),
        "hashes": _all_encoded(proof.path),
        "checkpoint": signed.note if signed else None,
    }
    return Answer(message="inclusion proved", data=data, headers=snapshot.headers)


@routes.get(
    "/api/audit/proofs/consistency",
    answers={200: "consistency proved", 503: NO_PROOF},
    min_position=True,
)
async def get_consistency_proof(
    request: web.Request, query: ConsistencyQuery
) -> Answer[Consistency]:
    """Prove that the tree of one size is the beginning of a larger one.

    By default ``second`` is the size of the newest checkpoint, or the current size of
    the tree when ``first`` is larger than that.
    """
    async with reading(request, FOLLOWER) as snapshot:
        checkpoint = await latest_checkpoint(snapshot.db)
        second = query.second
        if second is None:
            covered = checkpoint is not None and checkpoint.size >= query.first
            second = checkpoint.size if checkpoint and covered else snapshot.position
        _refuse_beyond(snapshot, first=query.first, second=second)
        if query.first > second:
            raise MalformedRequestError(
                "the first size must not be larger than the second",
                problems=[Problem("first", "larger than the second")],
            )
        with _contradictions_refused():
            proof = await consistency_proof(
                snapshot.db, first=query.first, second=second
            )
        signed = await checkpoint_of(snapshot.db, second)
    with _contradictions_refused():
        require_consistency(
            query.first, second, proof.path, proof.first_root, proof.second_root
        )
        _require_signed(signed, second, proof.second_root)
    data: Consistency = {
        "first_size": query.first,
        "first_root": _encoded(proof.first_root),
        "second_size": second,
        "second_root": _encoded(proof.second_root),
        "hashes": _all_encoded(proof.path),
        "checkpoint": signed.note if signed else None,
    }
    return Answer(message="consistency proved", data=data, headers=snapshot.headers)


async def _checkpoint(request: web.Request) -> SignedCheckpoint:
    async with read_server(request).connection() as db:
        checkpoint = await latest_checkpoint(db)
    if checkpoint is None:
        raise UnavailableError(
            "no checkpoint has been signed yet",
            code="no_checkpoint_yet",
            headers={"Retry-After": "5"},
        )
    return checkpoint


def _require_signed(signed: SignedCheckpoint | None, size: int, root: bytes) -> None:
    """Compare the root of a proof with the signed one, if the size has one."""
    if signed is None:
        return
    key = VerifierKey.parse(signed.public_key)
    if Checkpoint.open(signed.note, [key]).root != root:
        raise InvalidProofError(f"the tree of size {size} isn't the signed one")


@contextmanager
def _contradictions_refused() -> Iterator[None]:
    """Answer no proof that doesn't hold, since the log or its tree was changed.

    :raises UnavailableError: instead
    """
    try:
        yield
    except (IncompleteTreeError, InvalidProofError, NoteError) as error:
        logger.critical("a proof doesn't hold: %s", error)
        raise UnavailableError(
            "the event log contradicts its Merkle tree, so that there is no proof; "
            "tell the operator, and compare an export with your own checkpoints",
            code="log_contradicted",
        ) from error


def _refuse_beyond(snapshot: Snapshot, **sizes: int) -> None:
    beyond = [name for name, size in sizes.items() if size > snapshot.position]
    if beyond:
        raise MalformedRequestError(
            f"the tree has grown to {snapshot.position}",
            problems=[Problem(name, "beyond the tree") for name in beyond],
        )


def _all_encoded(hashes: Sequence[bytes]) -> list[str]:
    return [_encoded(each) for each in hashes]


def _encoded(hash_: bytes) -> str:
    return base64.b64encode(hash_).decode()
