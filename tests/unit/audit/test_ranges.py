"""Contradictions of a log as ranges of positions."""

from projections.audit.proofs.contradictions import Contradiction, described


def test_many_ranges_are_counted() -> None:
    found = [Contradiction("missing", 2 * n, 2 * n) for n in range(1, 13)]

    assert described(found).endswith(
        "position 20 missing from the log; and 2 more ranges"
    )
