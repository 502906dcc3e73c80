"""Notes are one line of bounded length that any database can store."""

from decimal import Decimal

from service.price_catalog.imports.price_notes import (
    join_notes,
    priced,
)
from service.price_catalog.periods import NOTES_LENGTH_MAX


def test_an_empty_note_is_left_out() -> None:
    assert join_notes([None, "", None]) is None
    assert priced("Batch", {}) is None


def test_sentences_are_joined_each_once() -> None:
    assert join_notes(["One.", None, "Two.", "One."]) == "One. Two."


def test_amounts_are_written_without_exponent() -> None:
    written = priced("Batch", {"input": Decimal("1E-10"), "output": Decimal(0)})
    assert written == "Batch: input 0.0000000001, output 0 per 1M."


def test_long_notes_are_cut_visibly() -> None:
    cut = join_notes(["x" * (NOTES_LENGTH_MAX + 1)])
    assert cut is not None
    assert len(cut) == NOTES_LENGTH_MAX
    assert cut.endswith("x ...")
    whole = "x" * NOTES_LENGTH_MAX
    assert join_notes([whole]) == whole


def test_what_cannot_be_stored_is_replaced() -> None:
    assert join_notes(["a\x00b\ud800"]) == "a\ufffdb\ufffd"
