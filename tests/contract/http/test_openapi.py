"""The HTTP contract: routes, statuses and the envelope clients rely on (R27, C-7, C-11)."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from msgx.domain.fields import TAGS
from tests.support.api import api_settings, serving


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An api whose servers are away."""
    with serving(api_settings()) as url:
        yield url


@pytest.fixture(scope="module")
def document(url: str) -> dict[str, Any]:
    """The OpenAPI document as a client gets it."""
    answer = httpx.get(f"{url}/openapi.json", trust_env=False)
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.covers("R27", "C-7", "C-11")
def test_the_document_has_the_routes_and_every_status_they_answer(
    document: dict[str, Any],
) -> None:
    found = {
        f"{method} {path}": sorted(operation["responses"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }

    assert found == {
        "get /all/flights": ["200", "500", "503"],
        "post /cminmsgs/send": ["200", "400", "408", "413", "415", "500", "503"],
        "post /schd/sync": ["202", "400", "408", "413", "415", "500", "503"],
        "post /api/v1/requests": ["202", "400", "408", "413", "415", "500", "503"],
        "get /api/v1/requests": ["200", "400", "500", "503"],
        "get /api/v1/requests/{number}": ["200", "400", "404", "500", "503"],
        "get /api/v1/reference": ["200", "500", "503"],
        "get /api/v1/reference/{category}": ["200", "400", "500", "503"],
        "get /api/v1/availability": ["200", "400", "500", "503"],
        "get /healthz": ["200"],
        "get /readyz": ["200", "500", "503"],
    }


def test_the_document_needs_nothing_from_outside(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert "://" not in str(document)


@pytest.mark.covers("C-7")
def test_the_document_names_the_three_media_types(document: dict[str, Any]) -> None:
    body = document["paths"]["/cminmsgs/send"]["post"]["requestBody"]

    assert sorted(body["content"]) == ["application/xml", "text/plain", "text/xml"]
    assert body["required"] is True


@pytest.mark.covers("R30", "C-11")
def test_a_flight_is_described_by_every_tag_of_the_registry(document: dict[str, Any]) -> None:
    answer = document["paths"]["/all/flights"]["get"]["responses"]["200"]
    envelope = answer["content"]["application/json"]["schema"]["properties"]

    flight = envelope["body"]["items"]["properties"]
    assert set(TAGS) | {"FLID", "STATE", "MAFL", "BOARDING_STATUS"} <= set(flight)


@pytest.mark.covers("R27")
@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("GET", "/healthz", '{"code":0,"message":"ok","body":null}'),
        ("GET", "/nowhere", '{"code":404,"message":"not found","body":null}'),
        ("PUT", "/all/flights", '{"code":405,"message":"method not allowed","body":null}'),
        (
            "GET",
            "/all/flights",
            '{"code":503,"message":"Redis does not answer","body":null}',
        ),
        (
            "POST",
            "/cminmsgs/send",
            '{"code":415,"message":"Content-Type must be one of text/xml, application/xml,'
            ' text/plain","body":null}',
        ),
    ],
)
def test_the_envelope_is_byte_for_byte(url: str, method: str, path: str, text: str) -> None:
    answer = httpx.request(method, url + path, trust_env=False)

    assert answer.text == text
    assert answer.headers["content-type"] == "application/json"
