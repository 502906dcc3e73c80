"""The tree against the published vectors, and against a second implementation."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_runtime_client.proofs.merkle import (
    EMPTY_ROOT,
    GrowingTree,
    InvalidProofError,
    folded,
    leaf_hash,
    node_hash,
    require_consistency,
    require_inclusion,
)
from projections.audit.proofs.merkle import (
    Leaves,
    Node,
    consistency_path,
    full_subtrees,
    inclusion_path,
)
from tests.support.audit import rfc6962

# The vectors of the reference implementation of Certificate Transparency
# (google/certificate-transparency, merkletree tests; the same in transparency-dev's
# merkle/testonly/constants.go).
CT_LEAVES = [
    bytes.fromhex(each)
    for each in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
CT_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
CT_INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
}
CT_CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
SIZES_MAX = 70


class Stored:
    """What the table holds of a tree: the hashes of its full subtrees."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.tree = GrowingTree()
        self.hashes: dict[Node, bytes] = {}
        for number, leaf in enumerate(leaves):
            self.tree.append(leaf)
            self.hashes[Node(0, number)] = leaf
        level, below = 1, list(leaves)
        while len(below) > 1:
            below = [
                node_hash(*pair) for pair in zip(below[::2], below[1::2], strict=False)
            ]
            for number, each in enumerate(below):
                self.hashes[Node(level, number)] = each
            level += 1

    def over(self, leaves: Leaves) -> bytes:
        return folded([self.hashes[node] for node in full_subtrees(leaves)])


def numbered(count: int) -> list[bytes]:
    return [leaf_hash(str(number).encode()) for number in range(count)]


@pytest.mark.parametrize("size", range(len(CT_ROOTS)))
def test_roots_are_the_published_ones(size: int) -> None:
    stored = Stored([leaf_hash(each) for each in CT_LEAVES[:size]])

    assert stored.tree.root().hex() == CT_ROOTS[size]
    assert stored.over(Leaves(0, size)).hex() == CT_ROOTS[size]


@pytest.mark.parametrize(("index", "size"), CT_INCLUSION)
def test_inclusion_proofs_are_the_published_ones(index: int, size: int) -> None:
    stored = Stored([leaf_hash(each) for each in CT_LEAVES])
    proof = [stored.over(each).hex() for each in inclusion_path(index, size)]

    assert proof == CT_INCLUSION[index, size]


@pytest.mark.parametrize(("first", "second"), CT_CONSISTENCY)
def test_consistency_proofs_are_the_published_ones(first: int, second: int) -> None:
    stored = Stored([leaf_hash(each) for each in CT_LEAVES])
    proof = [stored.over(each).hex() for each in consistency_path(first, second)]

    assert proof == CT_CONSISTENCY[first, second]


def test_every_small_tree_is_that_of_the_second_implementation() -> None:
    leaves = numbered(SIZES_MAX)
    stored = Stored(leaves)
    for size in range(1, SIZES_MAX + 1):
        root = stored.over(Leaves(0, size))
        assert root == rfc6962.mth(leaves[:size])
        for index in range(size):
            proof = [stored.over(each) for each in inclusion_path(index, size)]
            assert proof == rfc6962.path(index, leaves[:size])
            assert rfc6962.includes(leaves[index], index, size, proof, root)
            require_inclusion(leaves[index], index, size, proof, root)
        for first in range(1, size + 1):
            proof = [stored.over(each) for each in consistency_path(first, size)]
            assert proof == rfc6962.proof(first, leaves[:size])
            first_root = rfc6962.mth(leaves[:first])
            assert rfc6962.is_consistent(first, size, first_root, root, proof)
            require_consistency(first, size, proof, first_root, root)


@given(st.integers(1, 3000), st.data())
def test_a_proof_is_of_nothing_else(size: int, data: st.DataObject) -> None:
    leaves = numbered(size)
    stored = Stored(leaves)
    root = stored.tree.root()
    index = data.draw(st.integers(0, size - 1))
    other = data.draw(st.integers(0, size - 1))
    proof = [stored.over(each) for each in inclusion_path(index, size)]

    assert rfc6962.includes(leaves[index], index, size, proof, root)
    require_inclusion(leaves[index], index, size, proof, root)
    if other != index:
        with pytest.raises(InvalidProofError):
            require_inclusion(leaves[other], index, size, proof, root)
        with pytest.raises(InvalidProofError):
            require_inclusion(leaves[index], other, size, proof, root)
        assert not rfc6962.includes(leaves[other], index, size, proof, root)
        assert not rfc6962.includes(leaves[index], other, size, proof, root)


@given(st.integers(1, 300), st.data())
def test_a_consistency_proof_is_of_no_other_tree(
    size: int, data: st.DataObject
) -> None:
    leaves = numbered(size)
    first = data.draw(st.integers(1, size))
    changed = data.draw(st.integers(0, first - 1))
    others = [*leaves[:changed], leaf_hash(b"other"), *leaves[changed + 1 :]]
    stored, other = Stored(leaves), Stored(others)
    proof = [stored.over(each) for each in consistency_path(first, size)]

    require_consistency(
        first, size, proof, stored.over(Leaves(0, first)), stored.tree.root()
    )
    for first_root, second_root in (
        (other.over(Leaves(0, first)), stored.tree.root()),
        (stored.over(Leaves(0, first)), other.tree.root()),
    ):
        with pytest.raises(InvalidProofError):
            require_consistency(first, size, proof, first_root, second_root)


@given(st.integers(1, 300), st.data())
def test_a_proof_of_another_length_is_refused(size: int, data: st.DataObject) -> None:
    leaves = numbered(size)
    stored = Stored(leaves)
    root = stored.tree.root()
    index = data.draw(st.integers(0, size - 1))
    first = data.draw(st.integers(1, size))
    included = [stored.over(each) for each in inclusion_path(index, size)]
    grown = [stored.over(each) for each in consistency_path(first, size)]
    first_root = stored.over(Leaves(0, first))

    for path in ([*included, leaf_hash(b"")], included[:-1]):
        if path != included:
            with pytest.raises(InvalidProofError):
                require_inclusion(leaves[index], index, size, path, root)
    for path in ([*grown, leaf_hash(b"")], grown[:-1]):
        if path != grown:
            with pytest.raises(InvalidProofError):
                require_consistency(first, size, path, first_root, root)


@pytest.mark.parametrize(("index", "size"), [(-1, 1), (1, 1), (0, 0)])
def test_no_tree_has_a_leaf_outside_of_it(index: int, size: int) -> None:
    leaf = leaf_hash(b"")

    with pytest.raises(InvalidProofError):
        require_inclusion(leaf, index, size, [], leaf)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (-1, 1), (2, 1)])
def test_no_tree_is_the_beginning_of_a_smaller_one_or_empty(
    first: int, second: int
) -> None:
    root = leaf_hash(b"")

    with pytest.raises(InvalidProofError):
        require_consistency(first, second, [], root, root)


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_tree_goes_on_from_its_stored_subtrees(size: int, more: int) -> None:
    leaves = numbered(size + more)
    stored = Stored(leaves[:size])
    subtrees = [stored.hashes[node] for node in full_subtrees(Leaves(0, size))]
    resumed = GrowingTree(size, subtrees)
    for each in leaves[size:]:
        resumed.append(each)

    assert resumed.root() == Stored(leaves).tree.root()


def test_the_tree_of_nothing() -> None:
    assert GrowingTree().root() == EMPTY_ROOT == rfc6962.mth([])
