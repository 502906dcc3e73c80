"""The page of all settings, in the groups of ``--help``."""

from typing import Final

from docs.generator.markdown import code, entries
from service.cli.settings import grouped_settings
from service.config import CLIENT_VARIABLES, NO_OPTION, Config
from service.settings import variable_of

HEAD: Final = """\
# Settings

For operators: every setting of the service, generated from the code by `make generated`.

Each setting is an option and an environment variable; the option has precedence.
An unknown variable that begins with `AGENT_RUNTIME_` is an error, so that misspelt names are noticed; those of [`art`](../art.md) ({client}) are left to it.
[deploy/env.example](../../deploy/env.example) lists all variables with their defaults.
[variables.md](variables.md) says which variables of libraries count.
"""


def settings_page() -> str:
    lines = [HEAD.format(client=", ".join(map(code, sorted(CLIENT_VARIABLES))))]
    for title, names in grouped_settings().items():
        lines += [f"## {title[0].upper()}{title[1:]}", ""]
        lines += [*entries(_entry(name) for name in names), ""]
    return "\n".join(lines)


def _entry(name: str) -> tuple[str, str]:
    field = Config.model_fields[name]
    names = code(variable_of(name))
    if name not in NO_OPTION:
        names = f"{code('--' + name.replace('_', '-'))}, {names}"
    meaning = field.description or ""
    if field.default is not None:
        meaning += f" Default: {code(str(field.default).lower())}."
    return names, meaning
