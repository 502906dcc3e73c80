"""Log lines: text for a person, JSON for a program, exception messages in neither."""

import io
import logging
import re
import sys

import orjson
import pytest

from service.http import telemetry
from service.logs import (
    BufferedHandler,
    FieldsRecord,
    JsonFormatter,
    LogFormat,
    TextFormatter,
    configure_logs,
    escape_unprintable,
)

pytestmark = pytest.mark.usefixtures("logging_as_it_was")

SECRET = "s3cr3t-in-the-exception"
CLEAR_SCREEN = "\x1b[2J"
CSI_OF_8_BITS = "\x9b2J"
RIGHT_TO_LEFT = "\u202e"
TEXT_LINE = re.compile(r"\d\d:\d\d:\d\d (INFO|WARNING|ERROR) +\S.*")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def record(message: str, **fields: object) -> logging.LogRecord:
    made = logging.makeLogRecord(
        {"name": "here", "levelno": logging.INFO, "levelname": "INFO", "msg": message}
    )
    vars(made).update(fields)
    return made


def request_record() -> FieldsRecord:
    fields = {
        "request_id": "r-1",
        "method": "GET",
        "route": "/api/secrets/{name}",
        "status": 200,
        "duration_ms": 2.0961,
    }
    return FieldsRecord(
        telemetry.logger, logging.INFO, "request", fields, text=telemetry.LINE
    )


def failure() -> logging.LogRecord:
    try:
        int(SECRET)
    except ValueError:
        return record("it failed", exc_info=sys.exc_info(), request_id="r-1")
    raise AssertionError


def text(made: logging.LogRecord, *, colors: bool = False) -> str:
    return TextFormatter(colors=colors).format(made)


def json(made: logging.LogRecord) -> dict[str, object]:
    line = JsonFormatter().format(made)
    assert "\n" not in line
    parsed: dict[str, object] = orjson.loads(line)
    return parsed


def test_a_request_is_one_short_line_of_text() -> None:
    line = text(request_record())

    assert TEXT_LINE.fullmatch(line)
    assert line.endswith(" INFO     GET /api/secrets/{name} 200 2.1 ms")


def test_a_request_is_one_json_object_with_its_fields() -> None:
    members = json(request_record())

    assert members.pop("time")
    assert members == {
        "level": "info",
        "logger": "agent_runtime.request",
        "message": "request",
        "request_id": "r-1",
        "method": "GET",
        "route": "/api/secrets/{name}",
        "status": 200,
        "duration_ms": 2.0961,
    }


def test_fields_follow_the_message() -> None:
    line = text(record("demo data loaded", chats=300, kind="demo"))

    assert line.endswith(" INFO     demo data loaded chats=300 kind=demo")


def test_an_exception_is_its_type_and_stack_without_its_message() -> None:
    as_text, as_json = text(failure()), JsonFormatter().format(failure())

    first, *stack = as_text.splitlines()
    assert first.endswith(" it failed request_id=r-1 error=ValueError")
    assert len(stack) == 1
    assert re.fullmatch(r"    \S+test_logs\.py:\d+ failure", stack[0])
    assert orjson.loads(as_json)["error"] == "ValueError"
    assert SECRET not in as_text + as_json


@pytest.mark.parametrize(
    "foreign",
    [CLEAR_SCREEN, CSI_OF_8_BITS, RIGHT_TO_LEFT, "\x7f", "\r", "\n", "\x00", "\u2028"],
)
def test_foreign_text_cannot_control_a_terminal(foreign: str) -> None:
    made = record(f"said {foreign}", name_of=f"a{foreign}b")

    as_text, as_json = text(made), JsonFormatter().format(made)

    assert as_text.isprintable()
    assert as_json.isprintable()
    # Escaped in JSON's own way, so that a program reads what was said.
    assert orjson.loads(as_json)["name_of"] == f"a{foreign}b"


@pytest.mark.parametrize("readable", ["plain", "Grüße, 世界 🙂", ""])
def test_readable_text_stays_as_it_is(readable: str) -> None:
    assert escape_unprintable(readable) == readable


@pytest.mark.parametrize(
    ("log_format", "on_terminal", "is_text"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("text", False, True),
        ("json", True, False),
    ],
)
def test_auto_is_text_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch,
    log_format: LogFormat,
    on_terminal: bool,  # noqa: FBT001
    is_text: bool,  # noqa: FBT001
) -> None:
    stream = Terminal() if on_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("NO_COLOR", "1")

    configure_logs("info", log_format)
    logging.getLogger("here").warning("watch out")

    line = stream.getvalue().removesuffix("\n")
    if is_text:
        assert TEXT_LINE.fullmatch(line)
    else:
        assert orjson.loads(line)["message"] == "watch out"


@pytest.mark.parametrize(
    ("environment", "on_terminal", "colored"),
    [
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb", "NO_COLOR": ""}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, False, False),
    ],
)
def test_colors_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    on_terminal: bool,  # noqa: FBT001
    colored: bool,  # noqa: FBT001
) -> None:
    stream = Terminal() if on_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    configure_logs("info", "text")
    logging.getLogger("here").error("it failed")

    assert ("\x1b[31mERROR" in stream.getvalue()) == colored
    assert ("\x1b" in stream.getvalue()) == colored


def test_a_warning_is_written_at_once_with_the_lines_before_it() -> None:
    stream = io.StringIO()
    handler = BufferedHandler(stream)
    handler.setFormatter(JsonFormatter())

    handler.handle(request_record())
    warning = record("watch out", levelno=logging.WARNING, levelname="WARNING")
    handler.handle(warning)

    written = [orjson.loads(line)["message"] for line in stream.getvalue().splitlines()]
    assert written == ["request", "watch out"]
    handler.close()


def test_requests_of_one_id_can_be_left_out_of_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry.logger, "filters", [])
    telemetry.log_no_requests_of("r-1")
    with caplog.at_level(logging.INFO, logger="agent_runtime.request"):
        telemetry.logger.handle(request_record())
        other = request_record()
        other.fields = {**other.fields, "request_id": "r-2"}
        telemetry.logger.handle(other)

    assert [vars(made)["fields"]["request_id"] for made in caplog.records] == ["r-2"]


class Pipe(io.StringIO):
    """Keeps what each write got."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return len(text)


def test_lines_written_together_are_blocks_that_a_pipe_keeps_together() -> None:
    pipe = Pipe()
    handler = BufferedHandler(pipe)
    handler.setFormatter(JsonFormatter())
    messages = [f"{number} {'é' * 100}" for number in range(100)]

    for message in messages:
        handler.emit(record(message))
    handler.close()

    assert len(pipe.writes) > 1
    assert all(len(text.encode()) <= 4096 for text in pipe.writes)
    assert all(text.endswith("\n") for text in pipe.writes)
    lines = "".join(pipe.writes).splitlines()
    assert [orjson.loads(line)["message"] for line in lines] == messages


def test_lines_of_the_follower_process_name_it() -> None:
    line = record("hello")

    members = orjson.loads(JsonFormatter(process="followers").format(line))
    text = TextFormatter(colors=False, process="followers").format(line)

    assert members["process"] == "followers"
    assert text.endswith(" [followers] hello")
    assert "process" not in orjson.loads(JsonFormatter().format(line))
