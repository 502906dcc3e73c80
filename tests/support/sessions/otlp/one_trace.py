"""The spans of one trace."""

from tests.support.sessions.otlp.spans import llm, span

OF_A_TRACE = [
    span(1, took=5, session__id="chat", input__value="q", output__value="a"),
    llm(2, 1, 10, 2, start=1),
    llm(3, 1, 20, 3, start=2, llm__model_name="strong"),
    span(4, 1, start=1.5, openinference__span__kind="TOOL", session__id="chat"),
    llm(5, 4, 30, 4, start=1.6),
    llm(6, 5, 31, 4, start=1.7),
    span(7, 1, start=3, gen_ai__usage__input_tokens=99, gen_ai__operation__name="plan"),
]
