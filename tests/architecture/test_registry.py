"""The registry of fields and the tables of the migrations name the same columns."""

import re

import pytest

from msgx.domain.fields import COLLECTIONS, MARKS, OCCURRING, ROUTE_TAGS, SCALARS, Collection
from tests.architecture.sources import ROOT
from tools import ref_views

OWN = {
    "flid",
    "state",
    "state_version",
    "life",
    "operation_day",
    "last_msg_id",
    "created_at",
} | {"updated_at"}


def _columns(table: str) -> set[str]:
    sql = "".join(path.read_text("utf-8") for path in (ROOT / "migrations").glob("*.sql"))
    found = re.search(
        rf"CREATE TABLE {table} \((.*?)\n\)", re.sub(r"--[^\n]*", "", sql), re.DOTALL
    )
    assert found is not None, f"no table {table}"
    return set(re.findall(r"\n    ([a-z_]+) ", found[1]))


@pytest.mark.covers("G-FLOP-UNMAPPED")
def test_every_scalar_and_mark_has_its_column_and_no_column_is_left_over() -> None:
    tags = {one.tag.lower() for one in SCALARS} | {one.tag.lower() for one in MARKS}

    assert _columns("flight_schd") == tags | OWN


@pytest.mark.covers("G-FLOP-UNMAPPED")
@pytest.mark.parametrize("collection", COLLECTIONS, ids=[one.tag for one in COLLECTIONS])
def test_every_kept_part_of_a_collection_has_its_column(collection: Collection) -> None:
    route = collection.tag in ROUTE_TAGS
    kept = collection.kept or tuple(part.name for part in collection.parts)
    parts = {"source_seq" if name == collection.sequence else name.lower() for name in kept}

    columns = _columns("flight_route_point" if route else f"flight_{collection.tag.lower()}")

    assert parts <= columns
    if not route:
        assert columns == parts | {"flid", "ordinal"}


@pytest.mark.covers("R47")
@pytest.mark.parametrize("tag", [field.tag for field in OCCURRING])
def test_what_only_occurs_has_a_table_without_parts(tag: str) -> None:
    assert _columns(f"flight_{tag.lower()}") == {"flid", "msg_id", "ordinal", "raw"}


@pytest.mark.covers("INV-26", "R24")
def test_the_chain_makes_the_views_of_reference_data_as_the_registry_has_them() -> None:
    due = [category.value for category in ref_views.due()]

    assert due == [], "write a migration by tools/ref_views.py"
