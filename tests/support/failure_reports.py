"""Every failure is reported by name, also before CPython 3.11.8.

There, ``ast.parse`` isn't reentrant (python/cpython#106905): when the garbage collector
runs within it, and a finalizer formats a traceback, which parses source too, it raises
``SystemError: AST constructor recursion depth mismatch``. pytest parses the source of a
failed test to show it, and a failed test leaves such garbage, as tasks with exceptions:
the whole run ended, without the name of the test. So nothing is collected meanwhile.
"""

import ast
import gc
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

_parse: Callable[..., Any] = ast.parse


@wraps(_parse)
def _parse_without_collection(*args: Any, **options: Any) -> Any:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _parse(*args, **options)
    finally:
        if was_enabled:
            gc.enable()


if sys.version_info < (3, 11, 8):
    ast.parse = _parse_without_collection
