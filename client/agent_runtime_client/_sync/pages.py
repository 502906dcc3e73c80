"""Lists that come in pages."""
# Made by "make generated"; do not edit.

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.model import Model
from agent_runtime_client.operation import Operation

Item = TypeVar("Item")
Page = TypeVar("Page", bound=Model)


class Paging(NamedTuple):
    """The paging of a list: the field of the items, the parameter of the next page.

    ``cursor`` and ``more`` are paths of fields: of the next cursor, and of whether
    there is another page. Without a cursor the parameter is an offset.
    """

    items: str
    parameter: str
    cursor: Sequence[str] = ()
    more: Sequence[str] = ()


class Pages(Generic[Item, Page]):
    """A list: iterate over its items, or over its ``pages``.

    A page is requested with its first item: a loop that breaks requests no more pages.
    ``limit`` of the operation is the size of a page.
    """

    def __init__(
        self,
        caller: Caller,
        operation: Operation,
        page: type[Page],
        paging: Paging,
        *,
        query: Mapping[str, Any],
        path: Mapping[str, Any] | None = None,
    ) -> None:
        self._caller = caller
        self._operation = operation
        self._page = page
        self._paging = paging
        self._path = path
        self._query = dict(query)

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from self._items(page)

    def pages(self) -> Iterator[Page]:
        """Iterate over the pages."""
        query: dict[str, Any] | None = self._query
        while query is not None:
            page = self._ask(query)
            yield page
            query = self._next(query, page)

    def first_page(self) -> Page:
        """Return the first page."""
        return self._ask(self._query)

    def to_list(self) -> list[Item]:
        """Return all items."""
        return list(self)

    def _ask(self, query: Mapping[str, Any]) -> Page:
        return self._caller.model(
            self._operation, self._page, path=self._path, query=query
        )

    def _items(self, page: Page) -> Sequence[Item]:
        items: Sequence[Item] = getattr(page, self._paging.items)
        return items

    def _next(self, query: dict[str, Any], page: Page) -> dict[str, Any] | None:
        paging = self._paging
        items = self._items(page)
        if not items or (paging.more and not _at(page, paging.more)):
            return None
        if not paging.cursor:
            offset = (query.get(paging.parameter) or 0) + len(items)
            return {**query, paging.parameter: offset}
        cursor = _at(page, paging.cursor)
        if cursor is None:
            return None
        # The cursor stands behind what an offset has skipped.
        rest = {name: value for name, value in query.items() if name != "offset"}
        return {**rest, paging.parameter: cursor}


def _at(page: Model, path: Sequence[str]) -> Any:
    found: Any = page
    for name in path:
        found = getattr(found, name)
    return found
