"""URLs of connectors: what they may hold."""

import pytest
from pydantic import TypeAdapter, ValidationError

from service.connectors.url import HOLDS_CREDENTIALS, NOT_A_URL, ConnectorUrl

URL: TypeAdapter[str] = TypeAdapter(ConnectorUrl)


@pytest.mark.parametrize(
    "url",
    [
        "https://tracker.example",
        "http://127.0.0.1:9000/mcp",
        "https://tracker.example/mcp?workspace=7&lang=de&author=ada",
        "https://[::1]:8080/mcp#tools",
        "https://tracker.example/@scope/token/mcp?monkey=1&tokyo",
    ],
)
def test_urls_without_credentials(url: str) -> None:
    assert URL.validate_python(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://ada:secret@tracker.example/mcp",
        "https://token@tracker.example",
        "https://tracker.example/mcp?token=abc",
        "https://tracker.example/mcp?a=1&access_token=abc",
        "https://tracker.example/mcp?a=1;api-key=abc",
        "https://tracker.example/mcp?apiKey=abc",
        "https://tracker.example/mcp?X-API-KEY=abc",
        "https://tracker.example/mcp?%74oken=abc",
        "https://tracker.example/mcp?client_secret=abc",
        "https://tracker.example/mcp?Password=abc",
        "https://tracker.example/mcp?key=abc",
        "https://tracker.example/mcp?X-Amz-Signature=abc",
        "https://tracker.example/mcp#access_token=abc",
        "https://tracker.example/mcp?w=ghp_abcdefgh",
        "https://tracker.example/mcp?art_abcdefgh",
        "https://tracker.example/mcp?w=Bearer%20abc",
    ],
)
def test_credentials_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        URL.validate_python(url)

    (error,) = refused.value.errors()
    assert error["msg"] == f"Value error, {HOLDS_CREDENTIALS}"


@pytest.mark.parametrize(
    "url",
    [
        "tracker.example",
        "ftp://tracker.example",
        "https:///mcp",
        "https://a b",
        "https://[::1",
        "https://:443/mcp",
        "https://:/",
        "https://tracker.example:99999/",
        "https://tracker.example:0/",
        "https://tracker.example:abc/",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        URL.validate_python(url)

    (error,) = refused.value.errors()
    assert error["msg"] == f"Value error, {NOT_A_URL}"
