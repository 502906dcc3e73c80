"""How the walks over all operations call those of the console."""

from tests.support.operations.declaration import WalkedOperations

NOT_ASKED = {
    "get_root": "public",
    "get_console": "public",
    "get_console_file": "public",
    "get_console_session": "public",
    "post_console_session": "public; takes a token, in tests/integration/console",
    "delete_console_session": "public",
}

OPERATIONS = WalkedOperations(not_asked=NOT_ASKED, simple=frozenset(NOT_ASKED))
