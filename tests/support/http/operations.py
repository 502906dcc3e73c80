"""How the walks over all operations call those of the documents about the API."""

from tests.support.operations.declaration import WalkedOperations

NAMES = ("get_docs", "get_docs_asset", "get_openapi")

OPERATIONS = WalkedOperations(
    not_asked=dict.fromkeys(NAMES, "public"), simple=frozenset(NAMES)
)
