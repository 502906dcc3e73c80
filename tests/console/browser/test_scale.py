"""What a proof in a log of any length costs."""

import base64
from collections.abc import Sequence

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Route, expect

from projections.audit.proofs.merkle import (
    Leaves,
    consistency_path,
    inclusion_path,
    leaf_hash,
    node_hash,
)
from projections.audit.proofs.note import VerifierKey, sign_note
from tests.console.browser.conftest import Visit

pytestmark = pytest.mark.processes

ENTRIES = 1_000_000
KEPT = 654_321
POSITION = 777_777
ORIGIN = "agent-runtime/million"


class Tree:
    """The hashes of a large log, level by level; leaves are made of their number."""

    def __init__(self, size: int) -> None:
        level = [leaf_hash(b"%d" % number) for number in range(size)]
        self.levels = [level]
        while len(level) > 1:
            pairs = range(0, len(level) - 1, 2)
            level = [node_hash(level[at], level[at + 1]) for at in pairs]
            self.levels.append(level)

    def over(self, leaves: Leaves) -> bytes:
        """Return the hash over some leaves, as RFC 6962 defines it."""
        start, end = leaves
        count = end - start
        level = count.bit_length() - 1
        if count == 1 << level and start % count == 0:
            return self.levels[level][start >> level]
        middle = start + (1 << ((count - 1).bit_length() - 1))
        return node_hash(
            self.over(Leaves(start, middle)), self.over(Leaves(middle, end))
        )

    def path(self, parts: Sequence[Leaves]) -> list[str]:
        return [base64.b64encode(self.over(part)).decode() for part in parts]


def test_verifying_asks_for_nothing_but_the_proofs(visit: Visit) -> None:
    tree = Tree(ENTRIES)
    private = Ed25519PrivateKey.generate()
    key = str(VerifierKey(ORIGIN, private.public_key().public_bytes_raw()))

    def checkpoint(size: int) -> str:
        root = base64.b64encode(tree.over(Leaves(0, size))).decode()
        return sign_note(f"{ORIGIN}\n{size}\n{root}\n", ORIGIN, private)

    leaf = base64.b64encode(tree.levels[0][POSITION - 1]).decode()
    answers = {
        "/api/audit/checkpoint/key": {"public_key": key},
        "/api/audit/checkpoint": checkpoint(ENTRIES),
        f"/api/audit/proofs/consistency?first={KEPT}&second={ENTRIES}": {
            "hashes": tree.path(consistency_path(KEPT, ENTRIES))
        },
        f"/api/audit/proofs/inclusion?position={POSITION}&size={ENTRIES}": {
            "hashes": tree.path(inclusion_path(POSITION - 1, ENTRIES)),
            "leaf_hash": leaf,
        },
    }
    # Who may not read entries checks the hash alone.
    visitor = visit("ada")
    visitor.open("verify")

    def answer(route: Route) -> None:
        data = answers[route.request.url.removeprefix(visitor.url)]
        body = orjson.dumps({"data": data, "message": "", "status_code": 200})
        route.fulfill(body=data.encode() if isinstance(data, str) else body)

    visitor.page.route("**/api/audit/**", answer)
    visitor.requests.clear()
    visitor.page.get_by_label("Position of the entry").fill(str(POSITION))
    visitor.page.get_by_label("Your checkpoint", exact=True).fill(checkpoint(KEPT))
    visitor.page.get_by_role("button", name="Verify", exact=True).click()
    verdict = visitor.page.get_by_role("status").filter(has_text="Genuine")

    expect(verdict).to_contain_text(f"position {POSITION}")
    assert sorted(visitor.requests) == sorted(answers)
    visitor.page.get_by_text("hashes", exact=False).last.click()
    expect(visitor.page.locator("ol ol li").last).to_contain_text(
        tree.over(Leaves(0, ENTRIES)).hex()
    )
