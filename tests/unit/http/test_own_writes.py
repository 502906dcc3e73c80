"""What a token wrote last is what is latest in the log."""

from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

from service.http.app_keys import EVENT_LOG
from service.http.authentication import PRINCIPAL
from service.http.own_writes import OWN_WRITES, OwnWrites, own_write, remember_write


class Request(dict[Any, Any]):
    """A request of one token to an application with a log."""

    def __init__(self, epoch: UUID) -> None:
        super().__init__({PRINCIPAL: SimpleNamespace(token_id=uuid4())})
        self.app = {OWN_WRITES: OwnWrites(), EVENT_LOG: SimpleNamespace(epoch=epoch)}


def position(request: Any) -> int | None:
    write = own_write(request)
    return None if write is None else write.position


def test_a_request_that_ends_after_a_later_write_forgets_none() -> None:
    request: Any = Request(uuid4())

    remember_write(request, 20)
    remember_write(request, 10)

    assert position(request) == 20


def test_positions_of_another_epoch_are_not_compared() -> None:
    request: Any = Request(uuid4())
    remember_write(request, 20)
    request.app[EVENT_LOG].epoch = uuid4()

    remember_write(request, 10)

    assert position(request) == 10
