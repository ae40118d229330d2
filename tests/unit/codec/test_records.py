"""What a record tells: absent, empty or a value; marks, collections, and what nobody reads."""

import pytest

from msgx.domain.fields import COLLECTION, MARK, SCALAR, Kind
from msgx.domain.message import Element, Record, Unmapped
from tests.unit.codec.messages import decode, flop, fltr, message, package, record, refusal

GOOD = {
    Kind.TEXT: "x",
    Kind.TIME: "05JAN261200",
    Kind.COUNT: "7",
    Kind.KEY: "7",
    Kind.MOVEMENT: "A",
    Kind.NATURE: "D",
    Kind.DURATION: "0015",
}


def told(content: str) -> object:
    return record(package(fltr(content))).told


def elements(told_by: Record, tag: str) -> tuple[Element, ...]:
    value = told_by.told[tag]
    assert isinstance(value, tuple)
    return value


def unmapped(text: str) -> dict[str, tuple[int, str]]:
    return {u.tag: (u.occurrences, u.sample) for u in decode(text).unmapped}


@pytest.mark.covers("INV-14b", "C-6", "R47")
@pytest.mark.parametrize("tag", list(SCALAR))
def test_a_scalar_is_absent_empty_or_a_value(tag: str) -> None:
    kind = SCALAR[tag].kind

    value = record(package(fltr(f"<{tag}>{GOOD[kind]}</{tag}>"))).told

    assert told("") == {}
    assert told(f"<{tag}/>") == told(f"<{tag}></{tag}>") == told(f"<{tag}> \n</{tag}>")
    assert told(f"<{tag}/>") == {tag: None}
    assert set(value) == {tag}
    assert value[tag] is not None


@pytest.mark.covers("INV-14b", "R60")
@pytest.mark.parametrize("tag", list(COLLECTION))
def test_a_collection_is_absent_empty_or_elements(tag: str) -> None:
    sequence = COLLECTION[tag].sequence
    clears = [f"<{tag}/>", f"<{tag}></{tag}>", f"<{tag}>\n</{tag}>"]
    if sequence is not None:
        clears += [f'<{tag} {sequence}="0"/>', f'<{tag} {sequence}=" 0 "> </{tag}>']
        clears += [f'<{tag} {sequence}=""/>', f'<{tag} {sequence}="00"/>']

    assert told("") == {}
    for content in clears:
        assert told(content) == {tag: ()}, content


@pytest.mark.covers("R60")
@pytest.mark.parametrize(
    ("content", "elements"),
    [
        ('<GTDT GTNO="1"/>', ({"GTNO": "1"},)),
        ('<GTDT GTNO="0"><GATE>5</GATE></GTDT>', ({"GTNO": "0", "GATE": "5"},)),
        ('<GTDT GTNO="0"><GATE/></GTDT>', ({"GTNO": "0"},)),
        ('<GTDT GTNO="0"/><GTDT GTNO="0"/>', ({"GTNO": "0"}, {"GTNO": "0"})),
        ("<GTDT/><GTDT/>", ({}, {})),
        ("<GTDT><GATE>5</GATE></GTDT>", ({"GATE": "5"},)),
        ('<GTDT GTNO="x-9"><GATE>5</GATE></GTDT>', ({"GTNO": "x-9", "GATE": "5"},)),
        ('<DELY CODE="0"/>', ({"CODE": "0"},)),
        ("<DELY>fog</DELY>", ({"TEXT": "fog"},)),
    ],
)
def test_any_other_element_of_a_collection_is_kept_as_it_is(
    content: str, elements: tuple[dict[str, str], ...]
) -> None:
    assert told(content) == {content[1:5]: elements}


@pytest.mark.covers("INV-14b")
def test_elements_keep_their_order_and_are_never_deduplicated() -> None:
    gates = ["9", "1", "9", "5"]

    content = "".join(f'<GTDT GTNO="1"><GATE>{gate}</GATE></GTDT>' for gate in gates)

    assert told(content) == {"GTDT": tuple({"GTNO": "1", "GATE": gate} for gate in gates)}


def test_elements_of_one_collection_may_stand_apart() -> None:
    content = '<GTDT GTNO="1"/><STND>7</STND><GTDT GTNO="2"/>'

    assert told(content) == {"STND": "7", "GTDT": ({"GTNO": "1"}, {"GTNO": "2"})}


def test_parts_stand_in_the_order_of_the_registry_whatever_the_messages() -> None:
    content = "<CKDT><CTYP>E</CTYP><CCLS>F</CCLS><CHKC>007</CHKC></CKDT>"

    (element,) = elements(record(package(fltr(f"{content}<STND/>"))), "CKDT")

    assert list(element) == ["CHKC", "CCLS", "CTYP"]


def test_an_empty_part_is_absent_from_its_element() -> None:
    assert told('<CHOT CSNO="1"><CHTM/><CHID>L</CHID></CHOT>') == {
        "CHOT": ({"CSNO": "1", "CHID": "L"},)
    }


@pytest.mark.parametrize("tag", list(COLLECTION))
def test_a_collection_may_be_full_but_not_fuller(tag: str) -> None:
    field = COLLECTION[tag]
    element = f"<{tag}>{'x' if field.sequence is None else ''}</{tag}>"

    full = record(package(fltr(element * field.limit)))
    text = refusal(package(fltr(element * (field.limit + 1))))

    assert len(elements(full, tag)) == field.limit
    assert f"{tag} stands {field.limit + 1} times, the limit is {field.limit}" in text


@pytest.mark.covers("R47")
def test_a_point_of_rout_keeps_its_place_only_and_erut_its_times_too() -> None:
    points = '<{0} RTNO="1"><APCD>ZGGG</APCD><SCDT>05JAN261200</SCDT></{0}>'

    point = record(package(fltr(points.format("ROUT") + points.format("ERUT"))))

    assert point.told["ROUT"] == ({"RTNO": "1", "APCD": "ZGGG"},)
    assert list(elements(point, "ERUT")[0]) == ["RTNO", "APCD", "SCDT"]


@pytest.mark.parametrize(
    ("content", "mark"),
    [
        (
            '<FDIV DDES="ZGGG" DDIR="TO">备降</FDIV>',
            {"DDES": "ZGGG", "DDIR": "TO", "TEXT": "备降"},
        ),
        ('<FDIV DDES="ZGGG"/>', {"DDES": "ZGGG"}),
        ('<FDIV DDES="" DDIR="TO">other</FDIV>', None),
        ('<FDIV DDES=" "/>', None),
        ("<FDIV>other</FDIV>", None),
        ("<FDIV/>", None),
        ('<FRET REID="G"/>', {"REID": "G"}),
        ("<FRET>back</FRET>", {"TEXT": "back"}),
        ("<FRET/>", None),
        ('<FRET REID=""> </FRET>', None),
        ('<FLAB ARES="x"/>', {"ARES": "x"}),
        ("<FLAB></FLAB>", None),
    ],
)
@pytest.mark.covers("C-6", "R47")
def test_a_mark_is_a_value_or_cleared(content: str, mark: dict[str, str] | None) -> None:
    assert told(content) == {content[1:5]: mark}


@pytest.mark.parametrize("tag", [*SCALAR, *MARK])
def test_what_stands_once_may_not_stand_twice(tag: str) -> None:
    assert f"{tag} stands twice" in refusal(package(fltr(f"<{tag}/><{tag}/>")))


def test_a_part_may_not_stand_twice_in_its_element() -> None:
    content = '<GTDT GTNO="1"><GATE/><GATE>5</GATE></GTDT>'

    assert "GTDT/GATE stands twice" in refusal(package(fltr(content)))


def test_elements_in_place_of_a_value_do_not_clear_it() -> None:
    assert "STND holds elements" in refusal(flop("STND", "<STND><NEW>5</NEW></STND>"))
    assert "GTDT" not in refusal(flop("REMC", "<REMC>\n<b/>\n</REMC>"))


def test_text_around_an_unknown_element_is_kept_and_the_element_counted() -> None:
    text = flop("REMC", "<REMC>a <b>x</b> c</REMC>")

    assert record(text).told == {"REMC": "a  c"}
    assert unmapped(text) == {"REMC/b": (1, "x")}


def test_comments_and_cdata_do_not_cut_a_value() -> None:
    content = "<REMC>one<!-- no --> <![CDATA[<two> & ]]><?pi no?>three</REMC>"

    assert told(content) == {"REMC": "one <two> & three"}


@pytest.mark.covers("INV-25", "US-05", "R51")
def test_what_the_registry_does_not_know_is_counted_with_a_sample() -> None:
    content = (
        '<NEW1 a="b">one</NEW1><NEW1>two</NEW1><STND OPER="D">7</STND>'
        '<GTDT GTNO="1" OPER="I"><GATE x="1">5</GATE><NEW2>y</NEW2>stray</GTDT>'
        '<FDIV DDES="ZGGG" NEW3="z"><NEW4/></FDIV>'
    )
    text = package(fltr(content).replace("<FLTR>", '<FLTR v="2">'))

    assert unmapped(text) == {
        "FLTR@v": (1, "2"),
        "NEW1": (2, "one"),
        "STND@OPER": (1, "D"),
        "GTDT@OPER": (1, "I"),
        "GATE@x": (1, "1"),
        "GTDT/NEW2": (1, "y"),
        "FDIV@NEW3": (1, "z"),
        "FDIV/NEW4": (1, ""),
    }
    assert record(text).told == {
        "STND": "7",
        "GTDT": ({"GTNO": "1", "GATE": "5"},),
        "FDIV": {"DDES": "ZGGG"},
    }


def test_unknown_tags_around_the_records_are_counted_too() -> None:
    body = '<A/><SCHD v="1"><RECS>1</RECS><B/>' + fltr() + "</SCHD><A/>"
    head = "<SNDR>AODB</SNDR><SEQN>1</SEQN><PRIO>9</PRIO>"

    assert unmapped(message("SCHD", "DNLD", body, head)) == {
        "META/PRIO": (1, "9"),
        "A": (2, ""),
        "SCHD@v": (1, "1"),
        "B": (1, ""),
    }


@pytest.mark.covers("INV-14b", "R51")
def test_a_flop_reads_what_its_subtype_names_and_counts_the_rest() -> None:
    text = flop("STND", "<STND>7</STND><ESTT>nonsense</ESTT><GTDT/>")

    assert record(text).told == {"STND": "7"}
    assert unmapped(text) == {"ESTT": (1, "nonsense"), "GTDT": (1, "")}


def test_a_flood_of_unknown_tags_is_bounded() -> None:
    flood = "".join(f"<{'T' * 200}{n}>{'v' * 500}</{'T' * 200}{n}>" for n in range(300))
    many = "".join(f"<T{n}/>" for n in range(300))

    counted = decode(package(fltr(flood + many))).unmapped

    assert len(counted) == 65
    assert sum(u.occurrences for u in counted) == 600
    assert all(len(u.tag) <= 64 and len(u.sample) <= 80 for u in counted)
    assert counted[-1] == Unmapped(tag="*", occurrences=237, sample="")


def test_a_sample_is_fit_to_be_stored() -> None:
    (counted,) = decode(package(fltr("<NEW>a\u0085\u202eb\nc</NEW>"))).unmapped

    assert counted.sample == "a  b c"


@pytest.mark.covers("R47")
def test_services_and_vip_details_are_occurrences_with_their_raw_text() -> None:
    content = "<SRVT><SRTC>1</SRTC></SRVT><STND>7</STND><VIPF/><SRVT>\n<SRTC/></SRVT>"

    only = record(package(fltr(content)))

    assert only.told == {"STND": "7"}
    assert [(o.tag, o.raw) for o in only.occurrences] == [
        ("SRVT", "<SRVT><SRTC>1</SRTC></SRVT>"),
        ("VIPF", "<VIPF></VIPF>"),
        ("SRVT", "<SRVT>\n<SRTC></SRTC></SRVT>"),
    ]


def test_the_raw_text_of_an_occurrence_is_kept_whole() -> None:
    text = f"<SRVT>{'x' * 20_000}</SRVT>"

    (kept,) = record(package(fltr(text))).occurrences

    assert kept.raw == text
