"""A signed log of any length, which answers the requests for proofs in its stead."""

import base64
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Page, Route

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.merkle import folded, leaf_hash, node_hash
from agent_runtime_client.proofs.note import VerifierKey
from projections.audit.proofs.merkle import (
    Leaves,
    consistency_path,
    full_subtrees,
    inclusion_path,
)
from projections.audit.proofs.sign import sign_checkpoint

ORIGIN: Final = "agent-runtime/6f1c2a34-5b7d-4e8f-9a0b-1c2d3e4f5a6b"


def encoded(hash_: bytes) -> str:
    return base64.b64encode(hash_).decode()


class Tree:
    """The tree over ``size`` leaves; its last checkpoint is of all of them.

    Trees of the same ``contents`` begin with the same leaves.
    """

    def __init__(self, size: int, contents: bytes = b"") -> None:
        self.size = size
        self._private = Ed25519PrivateKey.generate()
        leaves = [leaf_hash(b"%b %d" % (contents, each)) for each in range(size)]
        self._levels = [leaves]
        while len(below := self._levels[-1]) > 1:
            pairs = zip(below[::2], below[1::2], strict=False)
            self._levels.append([node_hash(*pair) for pair in pairs])

    @property
    def key(self) -> str:
        public = self._private.public_key().public_bytes_raw()
        return str(VerifierKey(ORIGIN, public))

    def root(self, size: int) -> bytes:
        return self._over(Leaves(0, size))

    def checkpoint(self, size: int) -> str:
        return sign_checkpoint(Checkpoint(ORIGIN, size, self.root(size)), self._private)

    def inclusion(self, position: int, size: int) -> dict[str, Any]:
        return {
            "position": position,
            "leaf_index": position - 1,
            "tree_size": size,
            "leaf_hash": encoded(self._levels[0][position - 1]),
            "root_hash": encoded(self.root(size)),
            "hashes": self._hashes(inclusion_path(position - 1, size)),
            "checkpoint": None,
        }

    def consistency(self, first: int, second: int) -> dict[str, Any]:
        return {
            "first_size": first,
            "first_root": encoded(self.root(first)),
            "second_size": second,
            "second_root": encoded(self.root(second)),
            "hashes": self._hashes(consistency_path(first, second)),
            "checkpoint": self.checkpoint(second),
        }

    def answer_in(self, page: Page) -> None:
        """Answer the page's requests for proofs."""
        page.route("**/api/audit/proofs/**", self._answer)

    def _answer(self, route: Route) -> None:
        asked = urlsplit(route.request.url)
        query = {name: int(value) for name, (value,) in parse_qs(asked.query).items()}
        if asked.path.endswith("inclusion"):
            data = self.inclusion(query["position"], query["size"])
        else:
            data = self.consistency(query["first"], self.size)
        route.fulfill(json={"data": data, "message": "proved", "status_code": 200})

    def _over(self, leaves: Leaves) -> bytes:
        nodes = full_subtrees(leaves)
        return folded([self._levels[level][number] for level, number in nodes])

    def _hashes(self, path: Sequence[Leaves]) -> list[str]:
        return [encoded(self._over(each)) for each in path]
