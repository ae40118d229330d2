"""The order of verdicts below the identity, counts and keys of packages, sibling FLOPs."""

import pytest

from msgx.codec.decode import Decoder
from msgx.codec.payload import PayloadReader
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.flop import DEFAULT_GROUPS, RULES, FlopGroup
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    Meta,
    Payload,
    Schedule,
    ScheduleKind,
    Unsupported,
)
from tests.unit.codec.messages import (
    MAX_BYTES,
    SHANGHAI,
    decode,
    fault,
    flop,
    fltr,
    message,
    package,
    records,
    refusal,
)


@pytest.mark.covers("R58", "US-03")
@pytest.mark.parametrize(
    ("type_", "styp"),
    [("PLST", "DNLD"), ("ARLN", "UPD"), ("RSTA", "ADD"), ("SCHD", "UPDT"), ("SCHD", ""),
     ("FLOP", "PLAN"), ("flop", "ESTT"), ("FLOP", "estt"), ("SCHS", "DNLD")],
)  # fmt: skip
def test_another_kind_is_unsupported_whatever_its_body(type_: str, styp: str) -> None:
    for body in ("", "<FLOP/>", "<SCHD><RECS>x</RECS></SCHD>"):
        assert decode(message(type_, styp or "X", body)).payload == Unsupported()


@pytest.mark.covers("R21")
def test_a_subtype_of_a_group_that_is_off_is_unsupported() -> None:
    default = Decoder(zone=SHANGHAI, groups=DEFAULT_GROUPS, max_bytes=MAX_BYTES)

    for rule in RULES:
        payload = decode(flop(rule.styp, f"<{(rule.tags or ('FDEL',))[0]}/>"), default).payload
        off = rule.group is FlopGroup.EXTENDED
        assert isinstance(payload, Unsupported) is off, rule.styp
        assert off or isinstance(payload, Flop | Fdel), rule.styp


@pytest.mark.covers("R58")
@pytest.mark.parametrize(
    ("type_", "styp", "body"),
    [("FLOP", "ESTT", ""), ("FLOP", "ESTT", "<SCHD><RECS>0</RECS></SCHD>"),
     ("SCHD", "DNLD", "<FLOP><FLID>1</FLID></FLOP>"), ("SCHD", "ADFT", "<FLTR/>"),
     ("FLOP", "FDEL", "<FDEL/>"), ("SCHD", "RESP", "<RECS>0</RECS>")],
)  # fmt: skip
def test_a_missing_payload_is_malformed(type_: str, styp: str, body: str) -> None:
    text = refusal(message(type_, styp, body), ErrorClass.MALFORMED)

    assert text == f"TYPE is {type_}, but MSG holds no {type_}"


@pytest.mark.covers("B99", "R18")
@pytest.mark.parametrize("styp", ["DNLD", "RESP", "ADFT"])
@pytest.mark.parametrize(
    ("recs", "words"),
    [
        ("<RECS>900</RECS>", "RECS says 900, the package has 3 FLTR"),
        ("<RECS>2</RECS>", "RECS says 2, the package has 3 FLTR"),
        ("<RECS>0</RECS>", "RECS says 0, the package has 3 FLTR"),
        ("", "RECS is missing; the package has 3 FLTR"),
        ("<RECS/>", "RECS is missing; the package has 3 FLTR"),
        ("<RECS>3</RECS><RECS>3</RECS>", "RECS is there twice; the package has 3 FLTR"),
        ("<RECS>three</RECS>", "RECS 'three' is not a number"),
        ("<RECS>-3</RECS>", "RECS '-3' is not a number"),
    ],
)
def test_a_count_that_is_not_the_number_of_flights_is_refused(
    styp: str, recs: str, words: str
) -> None:
    text = refusal(package(fltr(flid=1), fltr(flid=2), fltr(flid=3), styp=styp, recs=recs))

    assert words in text


def test_the_count_may_have_zeros_before_and_stand_behind() -> None:
    body = f"<SCHD>{fltr(flid=1)}<RECS> 001 </RECS></SCHD>"

    assert decode(message("SCHD", "DNLD", body)).flids == ("1",)


@pytest.mark.covers("R18")
def test_an_empty_package_is_left_to_the_decision() -> None:
    assert decode(package()).payload == Schedule(kind=ScheduleKind.DNLD, declared=0, records=())
    assert decode(package(styp="ADFT")).payload == Adft(())


def test_a_second_schd_is_refused() -> None:
    body = f"<SCHD><RECS>1</RECS>{fltr()}</SCHD><SCHD><RECS>0</RECS></SCHD>"

    assert refusal(message("SCHD", "DNLD", body)) == "SCHD stands 2 times"


@pytest.mark.covers("R48")
@pytest.mark.parametrize("second", ["7", "007"])
def test_one_key_twice_in_a_package_is_refused(second: str) -> None:
    text = refusal(package(fltr(flid=7), fltr(flid=8), f"<FLTR><FLID>{second}</FLID></FLTR>"))

    assert text == "FLID 7 stands twice: FLTR 1 and 3"


@pytest.mark.covers("R58")
@pytest.mark.parametrize(
    ("flid", "words"),
    [
        ("", "FLID is missing"),
        ("<FLID/>", "FLID is empty"),
        ("<FLID>1</FLID><FLID>1</FLID>", "FLID stands twice"),
        ("<FLID>A1</FLID>", "FLID 'A1' is not a key"),
        ("<FLID>0</FLID>", "FLID '0' is not a key"),
        (f"<FLID>{'1' * 20}</FLID>", f"FLID '{'1' * 20}' is not a key"),
        ("<FLID>１２</FLID>", "is not a key"),
    ],
)
def test_a_record_without_a_key_is_refused_with_its_place(flid: str, words: str) -> None:
    in_package = refusal(package(fltr(flid=1), f"\n<FLTR>{flid}</FLTR>"))
    in_flop = refusal(flop("STND", "<STND>1</STND>", flid))
    in_fdel = refusal(flop("FDEL", "<FDEL/>", flid))

    assert words in in_package
    assert in_package.startswith("FLTR 2 of 2, line 2: ")
    assert words in in_flop
    assert in_flop.startswith("FLOP 1 of 1, line 1: ")
    assert words in in_fdel


@pytest.mark.covers("R58", "B85")
def test_a_wrong_value_in_a_package_names_its_flight() -> None:
    flights = [fltr("<SODT>05JAN261200</SODT>", n) for n in range(1, 901)]
    flights[416] = fltr("<SODT>05JAN262408</SODT>", 417)

    text = refusal(package(*flights))

    assert text.startswith("FLTR 417 of 900, line 1 (FLID 417): SODT '05JAN262408' is out")


@pytest.mark.covers("R60")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.styp))
def test_a_flop_without_any_tag_of_its_subtype_is_refused(rule: object) -> None:
    styp = next(each.styp for each in RULES if each is rule)

    text = refusal(flop(styp, "<XXXX>1</XXXX>"))

    assert "nothing that the subtype names" in text
    assert "(FLID 700001)" in text


@pytest.mark.covers("R60")
def test_sibling_flops_are_read_together_or_refused_together() -> None:
    good = "<FLOP><FLID>1</FLID><STND>5</STND></FLOP><FLOP><FLID>2</FLID><STND/></FLOP>"
    bad = good.replace("<STND/>", "<ESTT/>")

    assert [(r.flid, r.told) for r in records(message("FLOP", "STND", good))] == [
        ("1", {"STND": "5"}),
        ("2", {"STND": None}),
    ]
    assert refusal(message("FLOP", "STND", bad)).startswith("FLOP 2 of 2, line 1 (FLID 2): ")


def test_fdel_names_the_flights_to_delete() -> None:
    body = "<FLOP><FLID>01</FLID><FDEL/></FLOP><FLOP><FDEL></FDEL><FLID>2</FLID></FLOP>"

    said = decode(message("FLOP", "FDEL", body))

    assert said.payload == Fdel(("1", "2"))
    assert said.unmapped == ()


def test_the_described_flight_of_a_flop_is_never_used() -> None:
    text = flop("STND", "<STND>5</STND>")

    assert decode(text).payload == decode(text.replace("CA-1-D", "ZH-9-A")).payload
    assert decode(text).unmapped == ()


@pytest.mark.covers("R46")
def test_a_defect_of_ours_is_a_codec_error_that_does_not_show_the_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(self: PayloadReader, root: object, meta: Meta) -> Payload:
        raise KeyError("swordfish")

    monkeypatch.setattr(PayloadReader, "read", broken)

    raised = fault(flop("STND", "<STND>5</STND>"))

    assert isinstance(raised, Fault)
    assert raised.error_class is ErrorClass.CODEC_ERROR
    assert raised.text.startswith("the decoder raised KeyError at test_packages.py:")
    assert raised.__suppress_context__
