"""What stands in REF_MASTER after each kind of message, and what its views say (INV-26)."""

from datetime import timedelta
from xml.sax.saxutils import escape

import psycopg
import pytest

from msgx.domain.refdata import Category, Shape, fields_of
from tests.support.intake import move_time
from tests.support.messages import message
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, package, record, state
from tools import ref_views

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

GATE = {"GCOD": "1", "TERM": "T2"}
TYPES = {
    Shape.TEXT: "text",
    Shape.TIME: "timestamp with time zone",
    Shape.LIST: "jsonb",
    Shape.RECORDS: "jsonb",
}
COLUMNS = """
    SELECT column_name, data_type FROM information_schema.columns
     WHERE table_name = %s ORDER BY ordinal_position
"""


@pytest.mark.covers("INV-26", "US-13")
def test_a_package_is_the_whole_category_and_no_other(line: Line, desk: Desk) -> None:
    counters = package("CLST", "DNLD", record("CLST", CCOD="1", CNMC="值机"))
    chutes = package("CHLT", "DNLD", record("CHLT", CCOD="1", CNMC="滑槽"))
    desk.run(gates("DNLD", "1", "2", "3"), counters, chutes)

    desk.run(gates("DNLD", "2", "4"))

    assert desk.records("GLST").keys() == {"2", "4"}
    assert desk.records("CLST") == {"1": {"CCOD": "1", "CNMC": "值机"}}
    assert desk.records("CHLT") == {"1": {"CCOD": "1", "CNMC": "滑槽"}}


@pytest.mark.covers("INV-26", "R62", "R24")
@pytest.mark.parametrize("styp", ["ADD", "UPD"])
def test_an_update_replaces_the_whole_record_and_adds_new_ones(
    desk: Desk, line: Line, styp: str
) -> None:
    desk.run(gates("DNLD", "1", "2"))
    less = record("GLST", GCOD="1", KIND=None)

    desk.run(package("GLST", styp, less, record("GLST", GCOD="3")))

    assert desk.records("GLST") == {
        "1": {"GCOD": "1", "KIND": None},
        "2": {"GCOD": "2", "TERM": "T2"},
        "3": {"GCOD": "3"},
    }


@pytest.mark.covers("INV-26", "R23")
def test_del_removes_by_key_and_an_unknown_key_is_no_fault(line: Line, desk: Desk) -> None:
    desk.run(gates("DNLD", "1", "2", "3"))

    several, unknown = desk.run(gates("DEL", "1", "3"), gates("DEL", "1", "99"))

    assert desk.records("GLST").keys() == {"2"}
    assert line.end(several) == ("SUCCEEDED", None, None)
    assert line.end(unknown) == ("SUCCEEDED", None, None)


@pytest.mark.covers("INV-26", "R54")
@pytest.mark.parametrize("count", [1, 2])
def test_a_state_of_a_resource_replaces_its_own_only(
    line: Line, desk: Desk, count: int
) -> None:
    desk.run(package("RSTA", "DNLD", state("1", "D"), state("2", "D")))
    told = [state("1", "E", "05JAN261200"), state("1", "D", "06JAN260000")][:count]

    desk.run(package("RSTA", "DNLD", *told))

    records = desk.records("RSTA")
    assert records.keys() == {"GATE:1", "GATE:2"}
    assert records["GATE:2"]["STAT"] == "D"
    assert records["GATE:1"]["STAT"] == ("E" if count == 1 else "D"), "the last event holds"


@pytest.mark.covers("INV-26", "INV-9")
def test_a_record_names_the_message_that_said_it_last(line: Line, desk: Desk) -> None:
    (first,) = desk.run(gates("DNLD", "1", "2", seqn="1"))
    begun = desk.sources("GLST")
    move_time(line.pg, timedelta(minutes=1))

    (second,) = desk.run(gates("UPD", "2", seqn="2"))
    after = desk.sources("GLST")
    (again,) = line.run(gates("UPD", "2", seqn="2"))

    assert begun["1"] == begun["2"]
    assert begun["1"][:2] == (first, "AODB|GLST|DNLD|1")
    assert begun["1"][2] == line.row(first)["finished_at"]
    assert after["1"] == begun["1"]
    assert after["2"][:2] == (second, "AODB|GLST|UPD|2"), "unchanged, and yet refreshed"
    assert after["2"][2] > begun["2"][2]
    assert line.end(again)[0] == "SKIPPED"
    assert desk.sources("GLST") == after


@pytest.mark.covers("US-13", "R08")
def test_an_answer_that_nobody_asked_for_has_no_effect(line: Line, desk: Desk) -> None:
    desk.run(gates("DNLD", "1"))

    (answer,) = desk.run(gates("RESP", "2"))

    assert line.end(answer) == ("SKIPPED", None, "no-open-request")
    assert desk.records("GLST").keys() == {"1"}


@pytest.mark.covers("R23")
def test_a_wrong_count_of_an_update_is_told_and_no_more(
    line: Line, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    (msg_id,) = desk.run(gates("ADD", "1", recs=7))

    assert line.end(msg_id) == ("SUCCEEDED", None, None)
    assert desk.records("GLST") == {"1": GATE}
    warned = [one for one in caplog.records if one.message == "RECS is wrong"]
    assert [getattr(one, "msg_id", None) for one in warned] == [msg_id]


@pytest.mark.covers("INV-25", "R51")
def test_unknown_fields_are_counted_with_the_outcome(line: Line, desk: Desk) -> None:
    desk.run(gates("DNLD", "1", "2"), message("GLST", "ADD", "<GLST/>"))

    rows = line.rows("SELECT type, styp, tag, occurrences FROM unmapped_field")

    assert {"type": "GLST", "styp": "DNLD", "tag": "TERM", "occurrences": 2} in rows


@pytest.mark.covers("INV-26", "R24", "US-13")
def test_views_have_typed_columns_and_no_value_is_null(line: Line, desk: Desk) -> None:
    lists = record("SLST", SCOD="007", OGRP="A").replace("</OGRP>", "</OGRP><OGRP>B</OGRP>")
    desk.run(
        package("SLST", "DNLD", record("SLST", SCOD="008", STGP=None, OGRP=None), lists),
        package("RSTA", "DNLD", state("1", "D", "05JAN261200")),
    )

    stands = line.rows("SELECT rkey, scod, stgp, ogrp FROM ref_slst ORDER BY rkey")
    windows = line.rows("SELECT rkey, stat, begin_at, end_at FROM ref_rsta")

    assert stands == [
        {"rkey": "007", "scod": "007", "stgp": None, "ogrp": ["A", "B"]},
        {"rkey": "008", "scod": "008", "stgp": None, "ogrp": None},
    ]
    begin = line.one("SELECT '2026-01-05 12:00 Asia/Shanghai'::timestamptz")
    assert windows == [{"rkey": "GATE:1", "stat": "D", "begin_at": begin, "end_at": None}]


@pytest.mark.covers("INV-26", "US-13")
def test_hostile_texts_are_values_in_keys_views_and_questions(line: Line, desk: Desk) -> None:
    text = """'; DROP TABLE ref_master; --"\\{"a": null}<b>&%s $1 𠜎"""
    desk.run(
        package(
            "CLST", "DNLD", record("CLST", CCOD=escape(text), CNMC=escape(text), CTML="null")
        ),
        package("RSTA", "DNLD", state(escape(text), "D"), state("null", "E")),
    )

    assert line.rows("SELECT rkey, ccod, cnmc, ctml FROM ref_clst") == [
        {"rkey": text, "ccod": text, "cnmc": text, "ctml": "null"}
    ]
    assert line.rows("SELECT rtyp, rsid, stat FROM ref_rsta WHERE rsid = %s", text) == [
        {"rtyp": "GATE", "rsid": text, "stat": "D"}
    ]
    asked = [line.one("SELECT availability('GATE', %s, now())", one) for one in (text, "null")]
    assert asked == [False, True]

    desk.run(package("CLST", "DEL", record("CLST", CCOD=escape(text))))

    assert desk.records("CLST") == {}


@pytest.mark.covers("INV-26")
def test_each_view_has_the_fields_of_the_registry(line: Line) -> None:
    for category in Category:
        rows = line.rows(COLUMNS, ref_views.name(category))

        assert [(row["column_name"], row["data_type"]) for row in rows] == [
            ("rkey", "text"),
            *(
                (ref_views.column(field), TYPES[field.shape])
                for field in fields_of(category).values()
            ),
            ("source_msg_id", "bigint"),
            ("batch", "text"),
            ("refreshed_at", "timestamp with time zone"),
        ], category


@pytest.mark.covers("C-10", "US-13")
def test_the_admin_api_reads_views_and_table_and_writes_nothing(line: Line) -> None:
    with line.pg.transaction(force_rollback=True):
        line.pg.execute("SET LOCAL ROLE msgx_admin_api")
        for name in ("ref_master", *(ref_views.name(one) for one in Category)):
            assert line.one(f"SELECT count(*) FROM {name}") == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            line.pg.execute("DELETE FROM ref_master")
