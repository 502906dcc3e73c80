"""Add the page ``account`` to the console."""

from typing import Final

from tests.instruments.recipes.edits import Edit, Recipe

PAGE = """\
// Who is signed in.
//
// Shows: name and roles of who is signed in
import { Facts, Page, Reading } from "../app/parts.js";
import { useRead } from "../app/reads.js";
import { html } from "../app/ui.js";

export default function Account() {
  const read = useRead("/api/users/me");
  return html`<${Page} title="Account" lead="Who you are here.">
    <${Reading} read=${read} what="Reading your account">${() => html`
      <${Facts} facts=${[["Name", read.data.name], ["Roles", read.data.roles.join(", ") || "none"]]} />`}<//>
  <//>`;
}
"""

RECIPE: Final = Recipe(
    name="console_page",
    written_in="tests/instruments/recipes/console_page.py",
    sections=("Add a page to the console",),
    steps={
        "page": (
            Edit("service/console/static/pages/account.js", "", PAGE),
            Edit(
                "service/console/static/app/pages.js",
                "export const PAGES = [\n",
                '  { path: "account", module: "account", label: "Account" },\n',
            ),
        ),
    },
    tests=(
        "tests/integration/console/browser/test_pages.py::test_a_page_is_whole_in_both_schemes_and_in_320_pixels[account]",
    ),
    left_out=(),
)
