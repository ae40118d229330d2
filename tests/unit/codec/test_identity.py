"""META: what makes an identity, what forbids one, and the digest of the body."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from msgx.domain.failure import ErrorClass
from msgx.domain.message import Refused
from tests.aodb import sis
from tests.unit.codec.messages import META, decode, flop, malformed, message

BODY = "<FLOP><FLID>1</FLID><STND>101</STND></FLOP>"
KINDS = "<TYPE>FLOP</TYPE><STYP>STND</STYP>"


def with_head(head: str) -> str:
    return f"<MSG><META>{head}</META>{BODY}</MSG>"


@pytest.mark.covers("R59", "C-3", "INV-9")
def test_the_identity_is_the_four_trimmed_texts_and_zeros_count() -> None:
    head = f"<SNDR>\n AODB\t</SNDR><SEQN> 007 </SEQN><DTTM/>{KINDS}"

    assert decode(with_head(head)).meta.identity == "AODB|FLOP|STND|007"


def test_the_order_inside_the_head_does_not_matter() -> None:
    head = f"{KINDS}<DTTM>20260105083000</DTTM><SEQN>000001</SEQN><SNDR>AODB</SNDR>"

    assert decode(with_head(head)) == decode(with_head(META + KINDS))


@pytest.mark.parametrize("dttm", ["", "<DTTM/>", "<DTTM>soon</DTTM>", "<DTTM/><DTTM/>"])
def test_an_unreadable_time_of_the_head_is_no_fault(dttm: str) -> None:
    head = f"<SNDR>AODB</SNDR><SEQN>1</SEQN>{dttm}{KINDS}"

    assert decode(with_head(head)).meta.dttm is None


def test_the_time_of_the_head_is_an_instant() -> None:
    assert decode(with_head(META + KINDS)).meta.dttm == datetime(2026, 1, 5, 0, 30, tzinfo=UTC)


@pytest.mark.covers("R58")
@pytest.mark.parametrize("tag", ["SNDR", "SEQN", "TYPE", "STYP"])
def test_a_part_of_the_identity_that_is_missing_empty_or_twice_is_malformed(tag: str) -> None:
    parts = {"SNDR": "AODB", "SEQN": "1", "TYPE": "FLOP", "STYP": "STND"}

    def head(changed: str) -> str:
        return "".join(
            changed if name == tag else f"<{name}>{value}</{name}>"
            for name, value in parts.items()
        )

    twice = f"<{tag}>{parts[tag]}</{tag}>" * 2
    assert f"{tag} is missing" in malformed(with_head(head("")))
    assert f"{tag} is empty" in malformed(with_head(head(f"<{tag}/>")))
    assert f"{tag} is empty" in malformed(with_head(head(f"<{tag}> \n</{tag}>")))
    assert f"{tag} stands twice" in malformed(with_head(head(twice)))


@pytest.mark.covers("R58")
@pytest.mark.parametrize("seqn", ["x", "-1", "1.0", "１２", "1" * 20, "1 2"])
def test_a_sequence_number_is_1_to_19_digits(seqn: str) -> None:
    head = f"<SNDR>AODB</SNDR><SEQN>{seqn}</SEQN>{KINDS}"

    assert "SEQN is not 1 to 19 digits" in malformed(with_head(head))


@pytest.mark.parametrize("sndr", ["A|B", "A B", "x" * 65, "A<X/>B|"])
def test_a_sender_that_could_not_be_part_of_a_key_is_malformed(sndr: str) -> None:
    head = f"<SNDR>{sndr}</SNDR><SEQN>1</SEQN>{KINDS}"

    assert "SNDR" in malformed(with_head(head))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<GSM><META>{META}{KINDS}</META></GSM>", "root element is not MSG"),
        (f"<msg><META>{META}{KINDS}</META></msg>", "root element is not MSG"),
        (f"<MSG xmlns='urn:x'><META>{META}{KINDS}</META></MSG>", "root element is not MSG"),
        (f"<MSG>{BODY}</MSG>", "META is missing"),
        (f"<MSG><X><META>{META}{KINDS}</META></X></MSG>", "META is missing"),
        (f"<MSG><META>{META}{KINDS}</META><META/></MSG>", "META stands twice"),
        (f"<MSG><META>{META}{KINDS}</META><a xmlns='x/y'/></MSG>", "namespace"),
    ],
)
def test_a_frame_without_one_root_and_one_head_is_malformed(text: str, words: str) -> None:
    assert words in malformed(text)


@pytest.mark.covers("R58")
def test_a_message_of_another_kind_or_with_a_bad_payload_still_has_its_identity() -> None:
    empty = decode(message("FLOP", "STND", ""))
    other = decode(message("XXXX", "YYYY", ""))

    assert isinstance(empty.payload, Refused)
    assert empty.payload.error_class is ErrorClass.MALFORMED
    assert (empty.meta.identity, other.meta.identity) == (
        "AODB|FLOP|STND|000001",
        "AODB|XXXX|YYYY|000001",
    )
    assert len(empty.body_digest) == len(other.body_digest) == 32


def digest(body: str, *, root: str = "<MSG>", head: str = META) -> bytes:
    text = message("FLOP", "GTDT", body, head).replace("<MSG>", root, 1)
    return decode(text).body_digest


SAME = "<FLOP><FLID>1</FLID><GTDT GTNO='1' X='2'><GATE>A&lt;1</GATE><GOTM></GOTM></GTDT></FLOP>"


@pytest.mark.covers("R59", "R01")
@pytest.mark.parametrize(
    "body",
    [
        SAME.replace("'", '"'),
        SAME.replace("'", ' " '[1]).replace("GTNO=", "GTNO  =\n"),
        SAME.replace("<GOTM></GOTM>", "<GOTM/>"),
        SAME.replace("GTNO='1' X='2'", "X='2' GTNO='1'"),
        SAME.replace("A&lt;1", "<![CDATA[A<1]]>"),
        SAME.replace("A&lt;1", "A<!-- no -->&#60;<?pi?>1"),
        SAME.replace("><", ">\r\n\t <"),
        SAME.replace("><", ">&#13;&#10;<"),
        SAME.replace("<GATE>", "<!-- > < --><GATE>"),
        f"\n{SAME}\n <!-- end -->",
    ],
)
def test_another_layout_of_the_same_content_has_the_same_digest(body: str) -> None:
    assert digest(body) == digest(SAME)


@pytest.mark.covers("R59")
def test_neither_the_head_nor_what_the_root_declares_is_part_of_the_digest() -> None:
    xsi = (
        "<MSG xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'"
        " xsi:noNamespaceSchemaLocation = 'sis.xsd'>"
    )
    head = "<SNDR>X</SNDR><SEQN>9</SEQN>"

    assert digest(SAME, root=xsi) == digest(SAME)
    assert digest(SAME, head=head) == digest(SAME)


@pytest.mark.covers("R01", "R59", "INV-9")
@pytest.mark.parametrize(
    "body",
    [
        SAME.replace("A&lt;1", "A&lt;2"),
        SAME.replace("A&lt;1", "A&lt;1 "),
        SAME.replace("<FLID>1<", "<FLID>01<"),
        SAME.replace("GTNO='1'", "GTNO='2'"),
        SAME.replace(" X='2'", ""),
        SAME.replace("<GOTM></GOTM>", ""),
        SAME.replace("<GATE>A&lt;1</GATE><GOTM></GOTM>", "<GOTM></GOTM><GATE>A&lt;1</GATE>"),
        SAME + SAME,
        SAME.replace("X='2'", "X='&gt; &lt;'"),
        "",
    ],
)
def test_another_content_has_another_digest(body: str) -> None:
    assert digest(body) != digest(SAME)


def test_blanks_inside_an_attribute_are_content() -> None:
    one, two = ("X='a> &lt;b'", "X='a>&lt;b'")

    assert digest(SAME.replace("X='2'", one)) != digest(SAME.replace("X='2'", two))


@pytest.mark.covers("R59")
@pytest.mark.parametrize("cdata", [True, False])
def test_the_simulators_other_layout_is_the_same_content(cdata: bool) -> None:
    meta = sis.Meta("AODB", "FLOP", "REMC", "000001", "20260105083000")
    body = (
        sis.el("FLOP", "", sis.el("FLID", "1"), sis.el("REMC", " a & <b> "), sis.el("FFID")),
    )
    layout = sis.Layout(xsi=sis.XSI)
    other = replace(sis.other_layout(layout), cdata=cdata)

    first, second = (decode(sis.render(meta, body, each)) for each in (layout, other))

    assert first.body_digest == second.body_digest
    assert first.payload == second.payload


def test_a_digest_depends_on_no_other_message() -> None:
    first = decode(flop("STND", "<STND>1</STND>")).body_digest
    decode(flop("STND", "<STND>2</STND>"))

    assert decode(flop("STND", "<STND>1</STND>")).body_digest == first
