"""Sessions in the read tables: live, and built again."""

from service.resources import Resources
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.recording import Recorder, turn


async def test_rebuilt_sessions_equal_live_ones(
    recorder: Recorder, resources: Resources
) -> None:
    for number in range(6):
        session_id = f"chat-{number}"
        await recorder.start(session_id, number)
        # Late, out of order, after the end, with an error, without a text.
        for place in range(number):
            await recorder.turn(
                session_id,
                turn(
                    f"t{place}",
                    -10 * place,
                    1 + place,
                    input=f"question {place}" if place % 2 else None,
                    is_error=place == 3,
                    prompt_tokens=place or None,
                ),
            )
            if place == 2:
                await recorder.end(session_id, 100)

    await expect_rebuild_equals_live(resources, "sessions")
