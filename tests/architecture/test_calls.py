"""Calls that the pages show can be made: the method is there, and it takes what is given."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf import json_format, message_factory

from msgx.rpc.v1 import delivery_pb2
from tests.architecture.sources import ROOT

CALL: Final = re.compile(r"-d '([^']*)' ADDRESS msgx\.v1\.(\w+)/(\w+)")
PAGES: Final = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if CALL.search(path.read_text("utf-8"))
]


@pytest.mark.covers("R55")
@pytest.mark.parametrize("page", PAGES, ids=[path.stem for path in PAGES])
def test_a_call_on_a_page_is_one_that_the_service_takes(page: Path) -> None:
    for given, service, method in CALL.findall(page.read_text("utf-8")):
        called = delivery_pb2.DESCRIPTOR.services_by_name[service].methods_by_name[method]
        request: Any = message_factory.GetMessageClass(called.input_type)()

        json_format.Parse(given, request)

        assert request.ListFields(), given
        if "admin" in called.input_type.fields_by_name:
            assert request.admin.operator
            assert request.admin.reason


def test_pages_show_calls() -> None:
    assert PAGES
