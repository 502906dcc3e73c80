"""Long names of a call are stored as digests."""

from service.sessions.otlp.conventions import reported_span
from tests.support.sessions.otlp.spans import llm


def test_long_names_of_a_call_are_stored_as_digests() -> None:
    def names(length: int) -> tuple[str | None, ...]:
        long = {
            "gen_ai__response__id": "x" * length,
            "openai__response__service_tier": "y" * length,
        }
        call = reported_span(llm(2, 1, 5, 1, **long), "z" * length).call
        assert call is not None
        return call.response_id, call.conditions["service_tier"], call.scope

    assert names(128) == ("x" * 128, "y" * 128, "z" * 128)
    assert [len(each or "") for each in names(1000)] == [64, 64, 64]
    # Two layers around one call still have the same id, and other calls another one.
    assert names(1000) == names(1000)
    assert set(names(1000)).isdisjoint(names(1001))
