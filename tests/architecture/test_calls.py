"""Calls that the pages show can be made: the method is there, and it takes what is given."""

import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf import json_format, message_factory

from msgx.rpc import v1
from tests.architecture.sources import ROOT

CALL: Final = re.compile(r"-d '([^']*)' ADDRESS msgx\.v1\.(\w+)/(\w+)")
SERVICES: Final = {
    name: service
    for module in pkgutil.iter_modules(v1.__path__)
    if module.name.endswith("_pb2")
    for name, service in import_module(
        f"{v1.__name__}.{module.name}"
    ).DESCRIPTOR.services_by_name.items()
}
PAGES: Final = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if CALL.search(path.read_text("utf-8"))
]


@pytest.mark.covers("R55")
@pytest.mark.parametrize("page", PAGES, ids=[path.stem for path in PAGES])
def test_a_call_on_a_page_is_one_that_the_service_takes(page: Path) -> None:
    for given, service, method in CALL.findall(page.read_text("utf-8")):
        called = SERVICES[service].methods_by_name[method]
        request: Any = message_factory.GetMessageClass(called.input_type)()

        json_format.Parse(given, request)

        assert request.ListFields(), given
        if "admin" in called.input_type.fields_by_name:
            assert request.admin.operator
            assert request.admin.reason


def test_pages_show_calls() -> None:
    assert PAGES
