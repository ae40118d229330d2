"""Reference data: which messages it is, what a record tells, counts, keys, windows of RSTA."""

from dataclasses import replace

import pytest

from msgx.domain.failure import ErrorClass
from msgx.domain.message import HandOff, Unsupported
from msgx.domain.refdata import FORM, FORMS, REPEATED, WHOLE, Action, Category, Form, Reading
from tests.unit.codec.messages import (
    DECODER,
    decode,
    message,
    reference,
    reference_package,
    refusal,
    told_of,
)

PLAIN = [form for form in FORMS if form.category is not Category.RSTA]
BOTH = [(form, action) for form in PLAIN for action in Action]
GATE = "<RTYP>GATE</RTYP><RSID>07</RSID>"

by_category = pytest.mark.parametrize("form", PLAIN, ids=lambda form: form.category)


def keyed(form: Form, key: str = "K1", content: str = "") -> str:
    """A record with a key; of RSTA a whole one."""
    if form.category is Category.RSTA:
        return f"<RTYP>GATE</RTYP><RSID>{key}</RSID><STAT>E</STAT>{content}"
    return f"<{form.key[0]}>{key}</{form.key[0]}>{content}"


def told(category: str, content: str) -> dict[str, object]:
    """What one record tells beside its key."""
    form = FORM[Category(category)]
    said = told_of(reference_package(category, "ADD", keyed(form, content=content)))
    return {tag: value for tag, value in said.items() if tag not in form.key}


def state(content: str, *, styp: str = "DNLD") -> str:
    return reference_package("RSTA", styp, content)


def unmapped(text: str) -> dict[str, int]:
    return {found.tag: found.occurrences for found in decode(text).unmapped}


@pytest.mark.covers("R16", "R58", "US-13")
@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("action", Action)
def test_without_a_reading_reference_data_is_handed_off_unread(
    category: Category, action: Action
) -> None:
    flights_only = replace(DECODER, reference=None)
    known = category is not Category.RSTA or action in WHOLE

    for body in ("", "<RECS>x</RECS>", f"<{category}><NEW/></{category}>"):
        said = decode(message(category, action, body), flights_only)
        assert said.payload == (HandOff(category, action) if known else Unsupported())
        assert said.unmapped == ()
        assert said.flids == ()


@pytest.mark.covers("R54", "R58")
@pytest.mark.parametrize(
    ("type_", "styp"),
    [*(("RSTA", styp) for styp in ("ADD", "UPD", "DEL")), ("ABDG", "DNLD"), ("CITY", "UPD"),
     ("PLST", "ADD"), ("SCHS", "DNLD"), ("VIPL", "DEL"), ("COUL", "ADFT"), ("coul", "DNLD"),
     ("COUL", "dnld")],
)  # fmt: skip
def test_other_types_and_actions_are_unsupported_whatever_their_body(
    type_: str, styp: str
) -> None:
    for body in ("", "<RECS>x</RECS>", f"<RECS>1</RECS><{type_}/>"):
        assert decode(message(type_, styp, body)).payload == Unsupported()


@pytest.mark.covers("INV-26", "R24")
@by_category
def test_an_empty_tag_is_null_and_an_absent_one_is_not_there(form: Form) -> None:
    for tag in ("NEWTAG", *(field.tag for field in (*form.fields[1:], *REPEATED))):
        for empty in (f"<{tag}/>", f"<{tag}></{tag}>", f"<{tag}> \n </{tag}>"):
            assert told(form.category, empty) == {tag: None}
    assert told(form.category, "") == {}


@pytest.mark.covers("US-13", "R24")
@by_category
def test_ignored_fields_are_neither_kept_nor_counted(form: Form) -> None:
    for tag in form.ignored:
        for content in ("x", "", "<DEEP><X/></DEEP>"):
            text = reference_package(
                form.category, "UPD", keyed(form, content=f"<{tag}>{content}</{tag}>" * 2)
            )
            assert set(told_of(text)) == set(form.key)
            assert unmapped(text) == {}


@pytest.mark.covers("US-13", "R51")
@by_category
def test_an_unknown_tag_is_kept_as_text_and_counted(form: Form) -> None:
    text = reference_package(
        form.category, "DNLD", keyed(form, content="<ONE> 中 &amp; x </ONE><TWO>b</TWO><TWO/>")
    )

    assert told_of(text) == {form.key[0]: "K1", "ONE": "中 & x", "TWO": ("b", None)}
    assert unmapped(text) == {"ONE": 1, "TWO": 2}


@pytest.mark.covers("R51")
def test_what_is_unknown_and_holds_elements_is_only_counted() -> None:
    text = reference_package(
        "GLST",
        "DNLD",
        "<GCOD w='1'>7</GCOD><DEEP><A>1</A></DEEP><DEEP/><n:Q xmlns:n='urn:u'>1</n:Q>"
        "<FLAT v='2'>x</FLAT>",
    )

    assert told_of(text) == {"GCOD": "7", "FLAT": "x"}
    assert unmapped(text) == {"GCOD@w": 1, "DEEP": 2, "{urn:u}Q": 1, "FLAT": 1, "FLAT@v": 1}


def test_what_stands_beside_the_records_and_in_their_attributes_is_counted() -> None:
    text = message("GLST", "DNLD", "<RECS>1</RECS><X/><GLST a='1'><GCOD>7</GCOD></GLST><ARPT/>")

    assert told_of(text) == {"GCOD": "7"}
    assert unmapped(text) == {"X": 1, "GLST@a": 1, "ARPT": 1}


@pytest.mark.covers("US-13")
def test_repeated_fields_are_arrays_in_message_order() -> None:
    assert told("GLST", "<OGRP>B</OGRP><X/><OGRP>A</OGRP><OGRP>B</OGRP>")["OGRP"] == (
        "B", "A", "B",
    )  # fmt: skip
    assert told("GLST", "<OGRP>B</OGRP>")["OGRP"] == ("B",)
    assert told("AIRL", "<TRML MVIN='D' FLIN=''> T3 </TRML><TRML FLIN='I' X='1'/>")["TRML"] == (
        {"MVIN": "D", "FLIN": None, "TEXT": "T3"},
        {"FLIN": "I", "TEXT": None},
    )
    assert told("AIRL", "<SUBC><NAMC>上海</NAMC><CODE/><Z/></SUBC>")["SUBC"] == (
        {"CODE": None, "NAMC": "上海"},
    )
    assert told("AIRC", "<ABBR CODE='7'>x</ABBR>")["ABBR"] == ({"CODE": "7", "TEXT": "x"},)
    assert told("AIRC", "<ABBR CODE=''/>")["ABBR"] is None
    words = refusal(reference_package("AIRL", "ADD", keyed(FORM[Category.AIRL], content=(
        "<SUBC><CODE>1</CODE><CODE>2</CODE></SUBC>"))))  # fmt: skip
    assert words == "AIRL 1 of 1, line 1 (K1): SUBC/CODE stands twice"


@pytest.mark.covers("US-13", "R24")
def test_of_regc_the_first_is_kept_and_stgp_is_cut() -> None:
    assert told("COUL", "<REGC>B</REGC><REGC>VR</REGC>") == {"REGC": "B"}
    assert told("REGN", "<REGC>B</REGC><REGC>VR</REGC>") == {"REGC": ("B", "VR")}
    assert told("SLST", "<STGP>ABCDEFGHI</STGP>") == {"STGP": "ABCDEFGH"}
    assert told("SLST", "<STGP>一二三四五六七八九</STGP>") == {"STGP": "一二三四五六七八"}
    assert told("SLST", "<STGP>AB</STGP>") == {"STGP": "AB"}


@pytest.mark.covers("US-13", "R24", "R54")
def test_of_ocat_the_codes_of_a_parameter_are_kept_or_all() -> None:
    text = reference_package(
        "ORGN", "ADD", "<OGID>1</OGID><OCAT>SHOP</OCAT><OCAT>RHA</OCAT><OCAT/><OCAT>PHA</OCAT>"
    )
    every = replace(DECODER, reference=Reading(begin_tag="B", end_tag="E"))

    assert told_of(text)["OCAT"] == ("RHA", "PHA")
    assert told_of(text, every)["OCAT"] == ("SHOP", "RHA", None, "PHA")
    assert told("ORGN", "<OCAT>SHOP</OCAT>") == {"OCAT": ()}
    assert told("GLST", "<OCAT>SHOP</OCAT>") == {"OCAT": ("SHOP",)}


@pytest.mark.covers("US-13")
def test_only_the_category_tells_counters_from_chutes() -> None:
    content = "<CNMC>A</CNMC><CTML>T5</CTML><CCAT>D</CCAT>"

    assert told("CLST", content) == {"CNMC": "A", "CTML": "T5"}
    assert told("CHLT", content) == {"CNMC": "A", "CTML": "T5", "CCAT": "D"}
    assert unmapped(reference_package("CHLT", "ADD", f"{content}<CCOD>1</CCOD>")) == {}


@pytest.mark.covers("R58", "INV-27")
@pytest.mark.parametrize(("form", "action"), BOTH)
def test_a_key_is_one_text_that_is_not_empty(form: Form, action: Action) -> None:
    (tag,) = form.key
    wrong = {
        "<NEW>1</NEW>": f"{tag} is missing",
        f"<{tag}/>": f"{tag} is empty",
        f"<{tag}> </{tag}>": f"{tag} is empty",
        f"<{tag}>1</{tag}><{tag}>1</{tag}>": f"{tag} stands twice",
        f"<{tag}>{'x' * 65}</{tag}>": f"{tag} '{'x' * 40}…' is no key of 1 to 64 characters",
        f"<{tag}>a&#x85;b</{tag}>": f"{tag} 'a b' is no key of 1 to 64 characters",
        f"<{tag}><X/></{tag}>": f"{tag} holds elements where a value is expected",
    }

    for content, words in wrong.items():
        text = reference_package(form.category, action, keyed(form, "good"), content)
        assert refusal(text) == f"{form.category} 2 of 2, line 1: {words}"


@pytest.mark.covers("R62", "R23")
@by_category
def test_keys_are_texts_and_a_deletion_needs_no_more(form: Form) -> None:
    records = [keyed(form, " 007 "), keyed(form, "7", "<DEEP><A/></DEEP><STGP/><STGP/>")]

    deleted = reference(reference_package(form.category, "DEL", *records))

    assert [(record.key, record.payload) for record in deleted.records] == [
        ("007", None), ("7", None),
    ]  # fmt: skip


@pytest.mark.covers("R48", "R58", "INV-27")
@pytest.mark.parametrize(("form", "action"), BOTH)
def test_one_key_twice_in_a_package_is_refused(form: Form, action: Action) -> None:
    text = reference_package(form.category, action, *map(keyed, [form] * 3, "ABA"))

    words = refusal(text)

    assert words == f"{form.key[0]} 'A' stands twice: {form.category} 1 and 3"


@pytest.mark.covers("R23", "R58")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.category)
@pytest.mark.parametrize("recs", ["1", "3", "003"])
def test_a_wrong_count_refuses_a_whole_category_and_is_told_of_an_increment(
    form: Form, recs: str
) -> None:
    records = [keyed(form, key) for key in "AB"]
    text = f"RECS says {int(recs)}, the package has 2 {form.category}"

    for action in Action:
        package = reference_package(
            form.category, action, *records, recs=f"<RECS>{recs}</RECS>"
        )
        if action in WHOLE:
            assert refusal(package) == text
        elif form.category is not Category.RSTA:
            said = reference(package)
            assert (said.warning, said.declared, len(said.records)) == (text, int(recs), 2)


@pytest.mark.covers("R23")
@pytest.mark.parametrize(
    ("recs", "words"),
    [("", "missing"), ("<RECS/>", "missing"), ("<RECS>1</RECS>" * 2, "there twice")],
)
def test_a_missing_count_is_like_a_wrong_one(recs: str, words: str) -> None:
    for action in Action:
        text = reference_package("GLST", action, "<GCOD>1</GCOD>", recs=recs)
        if action in WHOLE:
            assert refusal(text) == f"RECS is {words}; the package has 1 GLST"
        else:
            assert reference(text).warning == f"RECS is {words}; the package has 1 GLST"


@pytest.mark.covers("R58")
@pytest.mark.parametrize("action", Action)
def test_a_count_that_is_no_number_is_refused(action: Action) -> None:
    text = reference_package("GLST", action, "<GCOD>1</GCOD>", recs="<RECS>one</RECS>")

    assert refusal(text) == (
        "RECS 'one' is not a number of 1 to 18 digits; the package has 1 GLST"
    )


@pytest.mark.covers("R48", "R58")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.category)
def test_a_package_without_records_is_malformed_or_says_zero(form: Form) -> None:
    category = form.category
    for action in WHOLE if category is Category.RSTA else Action:
        for body in (
            "",
            "<RECS>2</RECS>",
            "<RECS/>",
            "<OTHER/>",
            "<FLOP><FLID>1</FLID></FLOP>",
        ):
            assert refusal(message(category, action, body), ErrorClass.MALFORMED) == (
                f"TYPE is {category}, but MSG holds no {category}"
            )
        for zero in ("0", "00"):
            words = refusal(message(category, action, f"<RECS>{zero}</RECS>"))
            assert words == f"RECS says 0: a package holds one {category} at least"


@pytest.mark.covers("R54", "US-13")
@pytest.mark.parametrize("rtyp", ["BELT", "CNTR", "GATE", "STND"])
def test_a_state_is_keyed_by_type_and_resource_and_has_a_window(rtyp: str) -> None:
    (record,) = reference(
        state(
            f"<RSID>a:1</RSID><STAT>D</STAT><RTYP>{rtyp}</RTYP><EDTM>05jan262400</EDTM>"
            "<BGTM>05JAN260800</BGTM><REMC>x</REMC>"
        )
    ).records

    assert record.key == f"{rtyp}:a:1"
    assert record.payload == {
        "RTYP": rtyp, "RSID": "a:1", "STAT": "D", "BEGIN": "2026-01-05T08:00:00+08:00",
        "END": "2026-01-06T00:00:00+08:00", "REMC": "x",
    }  # fmt: skip


@pytest.mark.covers("R54", "R24")
def test_the_ends_of_a_window_may_be_absent_or_empty() -> None:
    assert told_of(state(f"{GATE}<STAT>E</STAT>")) == {
        "RTYP": "GATE", "RSID": "07", "STAT": "E",
    }  # fmt: skip
    said = told_of(state(f"{GATE}<STAT>E</STAT><BGTM/><EDTM/>"))
    assert (said["BEGIN"], said["END"]) == (None, None)


@pytest.mark.covers("R58", "US-13")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<RSID>1</RSID><STAT>E</STAT>", "RTYP is missing"),
        ("<RTYP>GATE</RTYP><STAT>E</STAT>", "RSID is missing"),
        ("<RTYP>DOOR</RTYP><RSID>1</RSID><STAT>E</STAT>",
         "RTYP 'DOOR' is not one of BELT, CNTR, GATE, STND"),
        (GATE, "STAT is missing"),
        (f"{GATE}<STAT/>", "STAT is empty"),
        (f"{GATE}<STAT>X</STAT>", "STAT 'X' is not one of E, D"),
        (f"{GATE}<STAT>D</STAT><STAT>D</STAT>", "STAT stands 2 times"),
        (f"{GATE}<STAT>D</STAT><BGTM>soon</BGTM>", "BGTM 'soon' is not a time DDMMMYYhhmm"),
        (f"{GATE}<STAT>D</STAT><EDTM>31FEB261200</EDTM>",
         "EDTM '31FEB261200' is out of range"),
        (f"{GATE}<STAT>D</STAT><BGTM>05JAN261200</BGTM><BGTM/>", "BGTM stands 2 times"),
        (f"{GATE}<STAT>E</STAT><EDTM>05JAN261200</EDTM>",
         "the end of a window stands beside STAT E, which has none"),
        (f"{GATE}<STAT>D</STAT><BGTM>05JAN261200</BGTM><EDTM>05JAN261200</EDTM>",
         "the window does not end after it begins"),
    ],
)  # fmt: skip
def test_a_state_that_cannot_be_is_refused(content: str, words: str) -> None:
    for styp in WHOLE:
        assert refusal(state(content, styp=styp)).endswith(f": {words}")


@pytest.mark.covers("US-13", "R54")
def test_of_two_events_of_one_resource_the_later_holds() -> None:
    records = [f"{GATE}<STAT>{stat}</STAT>" for stat in "DE"]
    said = reference(reference_package("RSTA", "DNLD", *records))

    assert [(r.key, r.payload and r.payload["STAT"]) for r in said.records] == [
        ("GATE:07", "E")
    ]


@pytest.mark.covers("R54", "R23")
def test_a_state_may_come_without_a_count() -> None:
    for recs in ("", "<RECS/>"):
        said = reference(reference_package("RSTA", "DNLD", f"{GATE}<STAT>E</STAT>", recs=recs))
        assert (said.declared, said.warning) == (None, None)


@pytest.mark.covers("R54")
def test_the_names_of_the_ends_are_parameters_and_their_names_in_the_payload_are_not() -> None:
    other = replace(DECODER, reference=Reading(begin_tag="SINCE", end_tag="BEGIN"))
    text = state(
        f"{GATE}<STAT>D</STAT><SINCE>05JAN260800</SINCE><BEGIN>05JAN260900</BEGIN><END>x</END>"
        "<BGTM>y</BGTM>"
    )

    assert told_of(text, other) == {
        "RTYP": "GATE", "RSID": "07", "STAT": "D", "BGTM": "y",
        "BEGIN": "2026-01-05T08:00:00+08:00", "END": "2026-01-05T09:00:00+08:00",
    }  # fmt: skip
    assert {found.tag for found in decode(text, other).unmapped} == {"END", "BGTM"}


@pytest.mark.covers("US-13")
def test_a_package_of_ten_thousand_records_is_read() -> None:
    records = [f"<SCOD>{n}</SCOD><STGP>x</STGP><STNM>y</STNM>" for n in range(10_000)]

    said = reference(reference_package("SLST", "DNLD", *records))

    assert len(said.records) == said.declared == 10_000
