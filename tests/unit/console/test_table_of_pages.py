"""The table of docs/console.md is made from the pages."""

from pathlib import Path

import pytest

from docs.generator.console_pages import table

PAGES = """\
// The pages, { path: "none" }.
export const PAGES = [
  { path: "notices", module: "notices", one: "notice", label: "Notices" },
  {
    path: "drafts", module: "drafts", auditors: true,
  },
  { path: "find", module: "find" },
];

const other = [{ path: "other", module: "other", label: "Other" }];
"""
NOTICES = """\
// What operators tell users.
// Shows: what is announced,
// by time
// Does:
//   announces, takes back
import { html } from "../app/ui.js";
// Does: nothing.
"""
DRAFTS = """\
// Notices that aren't announced.
// Page: Drafts, from a notice
// Shows: texts
"""


def project(folder: Path, **pages: str) -> Path:
    static = folder / "service/console/static"
    for name, script in {"app/pages": PAGES, **pages}.items():
        file = static / f"{name.replace('__', '/')}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
    return folder


def test_each_page_says_in_its_first_comment_what_it_shows(tmp_path: Path) -> None:
    made = table(
        project(
            tmp_path,
            pages__notices=NOTICES,
            pages__drafts=DRAFTS,
            pages__find="// What an id is.\n",
        )
    )

    assert made.splitlines() == [
        "| page | shows | does |",
        "|---|---|---|",
        "| Notices | what is announced, by time | announces, takes back |",
        "| Drafts, from a notice | texts | |",
    ]


def test_a_page_that_does_not_say_what_it_shows_is_named(tmp_path: Path) -> None:
    silent = project(tmp_path, pages__notices="// What operators tell users.\n")

    with pytest.raises(
        ValueError, match=r"^service/console/static/pages/notices\.js: .*// Shows: "
    ):
        table(silent)
