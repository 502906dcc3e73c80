"""The README's first calls answer."""

import json
from pathlib import Path

from tests.support.demo_service import demo_service
from tests.support.readme import shell_blocks


def test_the_first_calls_answer(tmp_path: Path) -> None:
    calls = [block for block in shell_blocks() if "curl " in block]
    assert calls
    with demo_service(tmp_path) as service:
        output = service.run("".join(calls))
    decoder, answers = json.JSONDecoder(), []
    while output:
        answer, end = decoder.raw_decode(output)
        answers.append(answer)
        output = output[end:].lstrip()
    assert len(answers) == "".join(calls).count("curl ")
    *of_the_api, of_the_gateway = answers
    assert [each["status_code"] for each in of_the_api] == [200] * len(of_the_api)
    # In the gateway's protocol; the tools of a new connector come within seconds.
    assert "tools" in of_the_gateway["result"]
