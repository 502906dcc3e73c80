"""Measure the console in Chromium: ``python -m tests.instruments.bench.console``.

How long a page of 100 sessions takes until it is shown, against the bare request and
the parsing of its JSON, in the same browser and in turn: a ratio, since both share the
machine with everything else. Shown means that all rows are in the document and laid
out. The console is open already, on another page, and has loaded its scripts.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.sync_api import Page

from tests.integration.console.browser.chromium import chromium
from tests.integration.console.browser.visitor import Visitor, visitor_in
from tests.support.console.browser.service import serve_demo

ROWS: Final = 100
LIST: Final = f"/api/observability/session/list?limit={ROWS}"
RATIO_MAX: Final = 3.0
BARE: Final = """
async path => {
  const began = performance.now();
  const headers = {"X-Agent-Runtime-Console": "1"};
  const answer = await fetch(path, {headers, cache: "no-store"});
  const {data} = JSON.parse(await answer.text());
  if (data.sessions.length !== 100) throw new Error("not a whole page");
  return performance.now() - began;
}
"""
# Layout is forced, so that neither frames nor painting are waited for: a bare request
# has none.
SHOWN: Final = """
address => new Promise(resolve => {
  const began = performance.now();
  const look = () => {
    if (document.querySelectorAll("main tbody tr").length < 100) return;
    document.querySelector("main table").getBoundingClientRect();
    observer.disconnect();
    resolve(performance.now() - began);
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, {childList: true, subtree: true});
  location.hash = address;
})
"""


def measure(page: Page, visitor: Visitor) -> dict[str, float]:
    visitor.open("overview")
    bare = page.evaluate(BARE, LIST)
    shown = page.evaluate(SHOWN, f"#/sessions?limit={ROWS}")
    visitor.settled()
    return {"bare_ms": bare, "shown_ms": shown}


def summary(rounds: list[dict[str, float]]) -> dict[str, Any]:
    found: dict[str, Any] = {"rounds": len(rounds)}
    for name in ("bare_ms", "shown_ms"):
        found[name] = round(median(each[name] for each in rounds), 1)
    ratios = [each["shown_ms"] / each["bare_ms"] for each in rounds]
    found["ratio"] = {
        "median": round(median(ratios), 2),
        "least": round(min(ratios), 2),
        "most": round(max(ratios), 2),
    }
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        serve_demo(Path(folder)) as demo,
        browser.new_context() as context,
    ):
        visitor = visitor_in(context, demo.url)
        visitor.sign_in(demo.tokens["admin"])
        # The first round also loads scripts and names.
        measure(visitor.page, visitor)
        found = summary([measure(visitor.page, visitor) for _ in range(options.rounds)])
    json.dump(found, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return 0 if found["ratio"]["median"] <= RATIO_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
