"""Routes that declare their parameters and answers, for the OpenAPI document too."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    Any,
    Final,
    NoReturn,
    Protocol,
    Required,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
)

from aiohttp import hdrs, web
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from service.errors import MalformedRequestError, Problem
from service.http.body import continue_when_read, refuse_body
from service.http.envelope import Answer, respond
from service.http.json_body import parse_body
from service.http.rate_limit import RateLimit
from service.http.requests import parse_path, parse_query, path_parameter

EVENT_STREAM = "text/event-stream"
KEY_HEADER: Final = "Idempotency-Key"
NO_KEY_TAKEN: Final = "this operation takes no Idempotency-Key"

RouteFunction = Callable[..., Awaitable[Answer[Any] | web.StreamResponse]]
Function = TypeVar("Function", bound=RouteFunction)
RefusalRewriter = Callable[[web.Request, web.Response, str], web.Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method and path, with the function that answers it.

    ``answers`` has the message or meaning of each status beyond those that every
    operation has. ``data`` is the type of the envelope's ``data`` in a success.
    """

    method: str
    path: str
    tag: str
    function: RouteFunction
    answers: Mapping[int, str]
    data: Any = None
    # Set where the answer isn't an envelope.
    content_type: str | None = None
    # Content types of a body that the function parses itself.
    raw_body: tuple[str, ...] = ()
    body_example: Any = None
    # Needs no token: probes, and the documents about the API.
    public: bool = False
    # False for parts of another operation, such as a page's style sheet.
    documented: bool = True
    # Asked every few seconds by machines: a success is logged at level debug.
    quiet: bool = False
    # The limit for each user; None is unlimited.
    rate_limit: RateLimit | None = None
    idempotent_key: bool = False
    if_match: bool = False
    min_position: bool = False
    # Takes Prefer: handling=strict, by which warnings refuse a command.
    takes_handling: bool = False
    # False for a GET that records something, which HEAD must not.
    head: bool = True
    path_types: Mapping[str, TypeAdapter[Any]] = field(default_factory=dict)
    query: type[BaseModel] | None = None
    # The function passes the query on itself.
    raw_query: bool = False
    # The last parameter is the rest of the path, slashes included.
    takes_rest: bool = False
    body: type[BaseModel] | None = None
    # Content types that the function answers in when the request has them.
    also_answers_in: tuple[str, ...] = ()
    # Rewrites the response of an error for another protocol; takes the request, the
    # response and its message.
    refusal: RefusalRewriter | None = None
    # Empty where other routes of the tag describe it.
    tag_description: str = ""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def takes_body(self) -> bool:
        return self.body is not None or bool(self.raw_body)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Parse the declared parameters, call the function, and render its answer."""
        request[OPERATION] = self
        if self.documented:
            self._refuse_headers(request)
        arguments = parse_path(request, self.path_types)
        query = None if self.raw_query else parse_query(request, self.query)
        if query is not None:
            arguments["query"] = query
        if self.body is not None:
            arguments["body"] = await parse_body(request, self.body)
        elif request.body_exists and not self.raw_body:
            await refuse_body(request)
        answer = await self.function(request, **arguments)
        return respond(answer) if isinstance(answer, Answer) else answer

    def _refuse_headers(self, request: web.Request) -> None:
        """Refuse a header that this operation would ignore, though it asks for safety.

        A read is safe to repeat, so a key does no harm; one that records something
        refuses it itself.

        :raises MalformedRequestError: there is one
        """
        given = request.headers
        if not self.if_match and hdrs.IF_MATCH in given:
            _refuse(hdrs.IF_MATCH, "this operation takes no If-Match")
        if not self.idempotent_key and self.method != "GET" and KEY_HEADER in given:
            _refuse(KEY_HEADER, NO_KEY_TAKEN)


def _refuse(header: str, message: str) -> NoReturn:
    raise MalformedRequestError(
        message, problems=[Problem(header, "not supported here")]
    )


OPERATION = web.RequestKey("operation", Operation)


class Registration(Protocol):
    def __call__(self, function: Function) -> Function:
        """Add a route function's operation; return the function as it is."""


class OperationOptions(TypedDict, total=False):
    """The fields of an :class:`Operation` that a route function doesn't imply."""

    answers: Required[Mapping[int, str]]
    data: Any
    content_type: str
    raw_body: tuple[str, ...]
    raw_query: bool
    takes_rest: bool
    body_example: Any
    public: bool
    documented: bool
    quiet: bool
    rate_limit: RateLimit
    idempotent_key: bool
    if_match: bool
    min_position: bool
    takes_handling: bool
    head: bool
    also_answers_in: tuple[str, ...]
    refusal: RefusalRewriter


class Routes:
    """The operations of one area.

    A route function takes the request, each path parameter by its name and type,
    ``query`` and ``body`` where it has them (pydantic models). What it doesn't
    declare is refused. It returns an ``Answer[T]``, which documents T as the data,
    or a response of its own; then the option ``data`` documents it.

    One of the routes of a tag gives the tag's ``description``: where some can be left
    out, one that can't.
    """

    def __init__(self, tag: str, description: str = "") -> None:
        self.tag = tag
        self.description = description
        self.operations: list[Operation] = []

    def get(self, path: str, **options: Unpack[OperationOptions]) -> Registration:
        return self._register("GET", path, options)

    def post(self, path: str, **options: Unpack[OperationOptions]) -> Registration:
        return self._register("POST", path, {"idempotent_key": True, **options})

    def put(self, path: str, **options: Unpack[OperationOptions]) -> Registration:
        return self._register("PUT", path, {"idempotent_key": True, **options})

    def delete(self, path: str, **options: Unpack[OperationOptions]) -> Registration:
        return self._register("DELETE", path, {"idempotent_key": True, **options})

    def _register(
        self, method: str, path: str, options: OperationOptions
    ) -> Registration:
        def register(function: Function) -> Function:
            signature = inspect.signature(function)
            parameters = signature.parameters
            names = [name for name in parameters if name not in _OWN]
            if get_origin(signature.return_annotation) is Answer and (
                "data" not in options
            ):
                (options["data"],) = get_args(signature.return_annotation)
            self.operations.append(
                Operation(
                    method=method,
                    path=path,
                    tag=self.tag,
                    tag_description=self.description,
                    function=function,
                    path_types={
                        name: path_parameter(parameters[name].annotation)
                        for name in names
                    },
                    query=_annotation(parameters, "query"),
                    body=_annotation(parameters, "body"),
                    **options,
                )
            )
            return function

        return register


def add_operations(app: web.Application, operations: Sequence[Operation]) -> None:
    """Add the routes; a parameter doesn't stand for a word that another path has."""
    paths = [operation.path for operation in operations]
    # aiohttp tries routes of one path together if they are added one after the other.
    # Few addresses end in a slash.
    ordered = sorted(operations, key=lambda each: (each.path[-1] == "/", each.path))
    for operation in ordered:
        methods = [operation.method]
        if (
            operation.method == "GET"
            and operation.head
            and operation.content_type != EVENT_STREAM
        ):
            methods += ["HEAD"]
        for method in methods:
            app.router.add_route(
                method,
                _with_rest(operation)
                if operation.takes_rest
                else _without_words(operation.path, paths),
                operation.handle,
                expect_handler=continue_when_read,
            )


def _with_rest(operation: Operation) -> str:
    return f"{operation.path[:-1]}:.*}}"


def _without_words(path: str, paths: Sequence[str]) -> str:
    """Keep the last parameter of a path from the words that stand there in others.

    Otherwise the methods of ``/users/{user_id}`` would be allowed for ``/users/me``.
    """
    parent, _, last = path.rpartition("/")
    if not (last.startswith("{") and last.endswith("}")):
        return path
    rivals = (each.rpartition("/") for each in paths)
    words = {
        word
        for start, _, word in rivals
        if start == parent and not word.startswith("{")
    }
    if not words:
        return path
    excluded = "|".join(sorted(words))
    return f"{parent}/{{{last[1:-1]}:(?!(?:{excluded})$)[^{{}}/]+}}"


def operation_of(request: web.Request) -> Operation | None:
    """Return the operation that a request was routed to; None for an unknown path."""
    handler = request.match_info.handler
    owner = getattr(handler, "__self__", None)
    return owner if isinstance(owner, Operation) else None


def _annotation(parameters: Mapping[str, inspect.Parameter], name: str) -> Any:
    return parameters[name].annotation if name in parameters else None


_OWN = {"request", "_request", "query", "body"}
