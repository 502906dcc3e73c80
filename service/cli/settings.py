"""The options that every command takes: one for each setting."""

import argparse
from collections.abc import Mapping
from typing import Final

from service.config import NO_OPTION, Config
from service.keys.config import KeyConfig
from service.settings import SettingGroup, variable_of

GENERAL: Final = Config.TITLE
GROUPS: Final[Mapping[str, type[SettingGroup]]] = {
    base.TITLE: base
    for base in Config.__bases__
    if issubclass(base, SettingGroup) and base.TITLE != GENERAL
}


# What every command needs; the help of most shows no other settings.
NEEDED: Final = frozenset(
    (
        *("data_dir", "database_url", "read_database_url", "log_format", "log_level"),
        *KeyConfig.model_fields,
    )
)


def add_settings(parser: argparse.ArgumentParser, *groups: str) -> None:
    """Add an option for each setting, in groups; call it after all other options.

    The help shows those that every command needs, and ``groups``.
    """
    # The usage shows the command's own options only; the groups show the rest.
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    parser.usage = f"{usage} [SETTINGS]"
    for title, names in grouped_settings().items():
        group = parser.add_argument_group(title)
        for name in names:
            if name not in NO_OPTION:
                is_shown = name in NEEDED or title in groups
                _add_option(group, name, is_shown=is_shown)
    if GENERAL not in groups:
        parser.epilog = (
            "Other settings are accepted as well; 'agent-runtime serve --help' "
            "explains them."
        )


def grouped_settings() -> dict[str, list[str]]:
    """Return the names of all settings, by the titles of their groups."""
    grouped: dict[str, list[str]] = {title: [] for title in (GENERAL, *GROUPS)}
    own = Config.__annotations__
    for name in sorted(Config.model_fields, key=lambda name: name not in own):
        grouped[_group_of(name)].append(name)
    return grouped


def _group_of(name: str) -> str:
    for title, group in GROUPS.items():
        if name in group.model_fields:
            return title
    return GENERAL


def _add_option(group: argparse._ArgumentGroup, name: str, *, is_shown: bool) -> None:
    field = Config.model_fields[name]
    option = "--" + name.replace("_", "-")
    help_text = argparse.SUPPRESS
    if is_shown:
        help_text = f"{field.description} [{variable_of(name)}]"
        if field.default not in (None, False):
            help_text += f" (default: {field.default})"
    if field.annotation is bool:
        group.add_argument(option, action="store_true", default=None, help=help_text)
    else:
        metavar = name.rsplit("_", maxsplit=1)[-1].upper()
        group.add_argument(option, metavar=metavar, help=help_text)
