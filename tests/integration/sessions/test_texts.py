"""People's words: sealed wherever they rest, shown to who may read, and erasable."""

from typing import Any

from service.resources import Resources
from service.sessions.turn import TEXT_BYTES_MAX
from tests.support.callers import Caller, Callers
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.sessions.recording import Recorder, turn

SESSION = "/api/observability/session"
WORDS: Any = {"input": "my diagnosis", "output": "a remedy", "error": "of nerves"}


async def shown(recorder: Recorder, by: Caller) -> list[object]:
    """Return what the list, and then the session itself, show of the words."""
    [row] = (await recorder.list(by=by)).data["sessions"]
    one = (await by.get(f"{SESSION}/chat-1")).data
    assert row == {name: one[name] for name in row}
    return [
        row["first_input"],
        row["last_output"],
        *([each["input"], each["output"], each["error"]] for each in one["turns"]),
    ]


async def test_words_are_nowhere_in_clear_but_in_answers(
    recorder: Recorder, resources: Resources, ada: Caller
) -> None:
    await recorder.record("chat-1", turn("t1", **WORDS))
    assert await shown(recorder, ada) == [
        "my diagnosis",
        "a remedy",
        ["my diagnosis", "a remedy", "of nerves"],
    ]

    rows = str(await tables(resources, "sessions"))
    async with resources.pool.connection() as db:
        cursor = await db.execute("SELECT state FROM events.stored_event")
        events = b" ".join(row[0] for row in await cursor.fetchall())

    for word in WORDS.values():
        assert word not in rows
        assert word.encode() not in events


async def test_words_are_gone_with_the_key_of_their_user(
    recorder: Recorder, resources: Resources, callers: Callers, ada: Caller
) -> None:
    bob = await callers.user("bob")
    assert bob.user_id is not None
    await recorder.record("chat-1", turn("t1", **WORDS), user_id=str(bob.user_id))
    before = await shown(recorder, bob)

    await resources.vault.destroy_user(bob.user_id)
    late = await recorder.turn("chat-1", turn("t2", 60, **WORDS))

    assert before[0] == "my diagnosis"
    assert late.status == 201
    for caller in (bob, ada):
        nothing = [None, None, None]
        assert await shown(recorder, caller) == [None, None, nothing, nothing]
    await expect_rebuild_equals_live(resources, "sessions")


async def test_a_key_destroyed_elsewhere_opens_nothing_here(
    recorder: Recorder, resources: Resources, ada: Caller
) -> None:
    await recorder.record("chat-1", turn("t1", **WORDS))
    await shown(recorder, ada)

    # As another process does it: this one's cache still holds the key.
    async with resources.pool.connection() as db:
        await db.execute(
            "UPDATE events.user_key"
            " SET wrapped = NULL, root_key_id = NULL, destroyed_at = now()"
        )

    assert await shown(recorder, ada) == [None, None, [None, None, None]]


async def test_a_long_text_is_cut_and_marked(recorder: Recorder, ada: Caller) -> None:
    await recorder.start("chat-1")
    long = "é" * TEXT_BYTES_MAX
    await recorder.turn("chat-1", turn("t1", input=long, output="x" * 5000))

    [row] = (await recorder.list(by=ada)).data["sessions"]
    [told] = (await ada.get(f"{SESSION}/chat-1")).data["turns"]

    assert (row["first_input"], row["first_input_truncated"]) == (long[:4096], True)
    assert (row["last_output"], row["last_output_truncated"]) == ("x" * 4096, True)
    assert (told["input"], told["input_truncated"]) == (
        "é" * (TEXT_BYTES_MAX // 2),
        True,
    )
    assert (told["output"], told["output_truncated"]) == ("x" * 5000, False)
