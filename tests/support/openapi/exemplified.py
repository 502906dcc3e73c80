"""Which operations have examples."""

from tests.support.openapi.contract import (
    documented,
)

# Its answer is as long as the installed price list; the other import's is alike.
WITHOUT_EXAMPLE = {"post_genai_prices_import"}


def with_example() -> set[str]:
    return {
        operation.name for operation in documented() if not operation.content_type
    } - WITHOUT_EXAMPLE
