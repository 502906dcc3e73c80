"""The page on the client's methods is made before what these import."""

from client.generator.document import current_document, described
from client.generator.reference import reference_page
from client.generator.types import Types

SOURCE = '''
from agent_runtime_client.models import NotGeneratedYet


class AsyncAuditChecks:
    """The part of the audit that the service isn't trusted with."""

    async def verify(self, position: int, *, against: NotGeneratedYet) -> None:
        """Verify that an entry is as it was
        when a checkpoint was signed.

        Not verified are names.
        """

    def _private(self) -> None:
        """Not for callers."""


class Other:
    def another(self) -> None:
        """Of no area."""
'''


def test_handwritten_methods_are_listed_without_importing_them() -> None:
    whole = current_document()
    operations = described(whole, Types(whole["components"]["schemas"]))

    page = reference_page(operations, {"audit": SOURCE})

    methods = [line for line in page.splitlines() if line.startswith("- `audit.")]
    (handwritten,) = (each for each in methods if " -> " not in each)
    assert handwritten == (
        "- `audit.verify(position, against=...)`: "
        "Verify that an entry is as it was when a checkpoint was signed."
    )
