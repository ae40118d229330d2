"""Hostile and broken texts get a Message or a Fault for an answer, never a defect."""

import json
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from msgx.codec.wellformed import check_wellformed
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.fields import TAGS
from msgx.domain.flop import RULES
from msgx.domain.message import Message, Reference, Refused
from msgx.domain.refdata import FORMS, Action, Form, fields_of
from tests.unit.codec.messages import DECODER, YEAR, message

SAMPLES = [
    path.read_text("utf-8")
    for path in sorted((Path(__file__).parents[2] / "support" / "samples").glob("*.xml"))
]
FRAGMENTS = (
    *("<", ">", "&", "&lt;", "]]>", "<![CDATA[", "<!--", "-->", "<?x", "?>", "<!DOCTYPE a>"),
    *("\0", "\x08", "\ufeff", "\ud800", "\uffff", "\u0085", "𠜎", " ", "\r\n", "'", '"', "0"),
    *("</MSG>", "<FLTR>", "</FLTR>", "<FLOP/>", "<RECS>1</RECS>", "<META/>", "<FLID>1</FLID>"),
    *("xmlns='a/b'", "xmlns:p='u'", "p:", "24", "29FEB27"),
)
REFERENCE = {field.tag for form in FORMS for field in fields_of(form.category).values()}
KNOWN = (
    *TAGS,
    *("FLID", "FLTR", "FLOP", "SCHD", "RECS", "SRVT", "GATE", "NEW", "CODE", "BGTM"),
    *sorted(REFERENCE),
)
ATTRIBUTES = ("", ' GTNO="0"', ' CODE=""', ' DDES="X" DDIR="TO"', ' y="1"')

many = settings(max_examples=300)


def answer(text: str) -> Message | Fault:
    """Return what the decoder answers; a defect of its own fails the test."""
    try:
        said = DECODER.decode(text, year=YEAR)
    except Fault as fault:
        assert fault.error_class is ErrorClass.MALFORMED, fault.text
        assert fault.text.isprintable()
        assert len(fault.text) <= 2000
        return fault
    if isinstance(said.payload, Refused):
        assert said.payload.text.isprintable()
    return said


@many
@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    assert isinstance(answer(text), Fault)


@many
@given(st.binary(max_size=200))
def test_any_bytes_are_answered(body: bytes) -> None:
    with suppress(Fault):
        check_wellformed(body)
    answer(body.decode("utf-8", "surrogateescape"))
    answer(body.decode("latin-1"))


@many
@given(
    st.sampled_from(SAMPLES),
    st.lists(
        st.tuples(
            st.floats(0, 1, exclude_max=True),
            st.integers(0, 40),
            st.sampled_from(["", *FRAGMENTS]),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_a_mutilated_sample_is_answered(
    sample: str, cuts: list[tuple[float, int, str]]
) -> None:
    text = sample
    for place, length, put in cuts:
        at = int(place * len(text))
        text = text[:at] + put + text[at + length :]

    answer(text)
    with suppress(Fault):
        check_wellformed(text)


def trees(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    node = st.builds(
        "<{0}{1}>{2}</{0}>".format, st.sampled_from(KNOWN), st.sampled_from(ATTRIBUTES), inner
    )
    return st.lists(node, max_size=5).map("".join)


@many
@given(
    st.sampled_from(FORMS),
    st.sampled_from(Action),
    st.recursive(st.text(alphabet="09AZ_ \n中", max_size=12), trees, max_leaves=30),
)
def test_any_record_of_reference_data_has_an_identity_and_an_answer(
    form: Form, action: Action, body: str
) -> None:
    keys = "".join(f"<{tag}>GATE</{tag}>" for tag in form.key)
    record = f"<{form.category}>{keys}{body}</{form.category}>"

    said = answer(message(form.category, action, f"<RECS>1</RECS>{record}"))

    assert isinstance(said, Message)
    assert said.meta.identity == f"AODB|{form.category}|{action}|000001"
    if isinstance(said.payload, Reference):
        (only,) = said.payload.records
        json.dumps(only.payload, allow_nan=False)


@many
@given(
    st.sampled_from(["FLOP", "SCHD"]),
    st.sampled_from([*(rule.styp for rule in RULES), "DNLD", "RESP", "ADFT"]),
    st.recursive(st.text(alphabet="09AZ_ \n中", max_size=12), trees, max_leaves=30),
)
def test_any_tree_of_known_tags_has_an_identity_and_an_answer(
    type_: str, styp: str, body: str
) -> None:
    said = answer(message(type_, styp, f"<{type_}>{body}</{type_}>"))

    assert isinstance(said, Message)
    assert said.meta.identity == f"AODB|{type_}|{styp}|000001"
