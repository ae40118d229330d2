"""Write docs/fields.md from the two registries of fields and the FLOP rule table."""

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain import fields, flop, refdata
from msgx.domain.fields import Kind, PartField, Where
from tools.page import notice, publish, table
from tools.remarks import remarks

PAGE = "docs/fields.md"
_FORMS = {Kind.TEXT: "text"} | {
    kind: remarks(Kind)[kind.name] for kind in Kind if kind.name in remarks(Kind)
}


def pages() -> dict[str, str]:
    """Return the page."""
    flights = _intro() + _scalars() + _marks() + _collections() + _rules()
    return {PAGE: flights + _reference() + _repeated()}


def _intro() -> str:
    return (
        "# Fields\n\nOf a flight; those of [reference data](#reference-data) stand below.\n\n"
        + notice("gen_fields")
        + "One registry"
        " (`msgx/domain/fields.py`) lists every tag; decoder, merge, tables, JSON, journal and"
        " this page read it. Names are SIS tags everywhere; a column is the tag in lower case."
        " *Absent*, *empty* and *value* are three things: in FLOP and ADFT an absent tag keeps"
        " what is stored; in a day plan (SCHD-DNLD, RESP) it clears (C-6). An empty tag clears"
        " in all of them. A tag that is not here is counted in `unmapped_field` and ignored"
        " (R51).\n\n"
        "## Kinds\n\n"
        + table(["kind", "form"], [[kind.value, _FORMS[kind]] for kind in Kind])
        + "\n"
    )


def _scalars() -> str:
    groups = groupby(fields.SCALARS, key=lambda one: (one.kind.value, one.meaning))
    rows = [
        [" ".join(f"`{one.tag}`" for one in scalars), kind, meaning]
        for (kind, meaning), scalars in groups
    ]
    return "## Scalars\n\nColumns of `flight_schd`.\n\n" + table(
        ["tags", "kind", "meaning"], rows
    )


def _marks() -> str:
    rows = [
        [
            f"`{one.tag}`",
            _parts(one.parts),
            "; ".join(f"{part}: {', '.join(sorted(of))}" for part, of in one.allowed.items()),
            one.meaning,
        ]
        for one in fields.MARKS
    ]
    return (
        "\n## Marks\n\nStand once and hold parts; one JSON column each. A part in @ is an"
        " attribute, TEXT is the element's own text. Other values of a limited part refuse the"
        " message (PROTOCOL).\n\n" + table(["tag", "parts", "allowed", "meaning"], rows)
    )


def _collections() -> str:
    rows = [
        [
            f"`{one.tag}`",
            _parts(one.parts),
            str(one.limit),
            ", ".join(one.kept) if one.kept else "all",
            one.source,
        ]
        for one in fields.COLLECTIONS
    ]
    occurring = ", ".join(f"`{one.tag}` ({one.meaning})" for one in fields.OCCURRING)
    return (
        "\n## Collections\n\nReplaced as a whole, in message order, never deduplicated"
        " (INV-14b); a table each, `ROUT` and `ERUT` share `flight_route_point`. One childless"
        " element with sequence 0, or a bare empty one, clears. More elements than the limit"
        " refuse the message.\n\n"
        + table(["tag", "parts", "limit", "kept", "source"], rows)
        + f"\nOf `ROUT`, {fields.ROUTE_KEPT} points are kept: a departure's first, an arrival's"
        f" last. {occurring}: written once as they came, outside merge, JSON and topics"
        " (R47).\n"
    )


def _parts(parts: Iterable[PartField]) -> str:
    return ", ".join(
        f"@{part.name}" if part.where is Where.ATTRIBUTE else part.name for part in parts
    )


def _rules() -> str:
    groups = remarks(flop.FlopGroup)
    said = "; ".join(f"`{one.value}`: {groups[one.name]}" for one in flop.FlopGroup)
    on = ", ".join(f"`{one}`" for one in sorted(flop.DEFAULT_GROUPS))
    sides = remarks(flop.Side)
    rows = [
        [
            f"`{rule.styp}`",
            ", ".join(rule.tags) or "none",
            rule.group.value,
            rule.empty,
            sides.get(rule.side.name, "") if rule.side is not flop.Side.NONE else "",
            rule.source,
        ]
        for rule in flop.RULES
    ]
    return (
        "\n## FLOP\n\nOne row for each STYP: it may change the tags it names and nothing else."
        f" Groups: {said}. On by default: {on} (`msgx.flop.groups`). Every other STYP is"
        " SKIPPED(unsupported).\n\n"
        + table(["STYP", "tags", "group", "an empty tag", "beyond that", "source"], rows)
    )


def _reference() -> str:
    forms = remarks(refdata.Shape)
    said = "; ".join(f"*{one.value}*: {forms[one.name]}" for one in refdata.Shape)
    rows = [
        [
            f"`{form.category}`",
            form.meaning,
            " ".join(f"`{tag}`" for tag in form.key),
            ", ".join(map(_reference_field, form.fields[len(form.key) :])),
            " ".join(f"`{tag}`" for tag in sorted(form.ignored)),
            form.source,
        ]
        for form in refdata.FORMS
    ]
    return (
        "\n## Reference data\n\nOne registry (`msgx/domain/refdata.py`) lists the categories. A"
        ' record is stored whole: an empty tag is null, "no value now" (R24); a tag without'
        " children that is not here is kept as text (repeated: as a list) and counted in"
        " `unmapped_field`; one with children is only counted; ignored fields are neither"
        f" ([ADR 0041](adr/0041-reference-data-is-kept-whole.md)). {said}.\n\n"
        + table(["category", "meaning", "key", "fields", "ignored", "source"], rows)
        + f"\n`RTYP` is one of {', '.join(refdata.RTYPES)}, `STAT` one of"
        f" {', '.join(refdata.STATS)}. `{refdata.BEGIN}` and `{refdata.END}` are names in the"
        " payload; their tags are `msgx.reference.begin-tag` and `end-tag`.\n"
    )


def _reference_field(field: refdata.RefField) -> str:
    notes = [] if field.shape is refdata.Shape.TEXT else [field.shape.value]
    notes += ["the first"] if field.first else []
    notes += [f"cut to {field.cut} characters"] if field.cut is not None else []
    notes += ["codes of `msgx.reference.ocat`"] if field.filtered else []
    return f"`{field.tag}`" + (f" ({', '.join(notes)})" if notes else "")


def _repeated() -> str:
    rows = [[f"`{one.tag}`", one.shape.value, _parts(one.parts)] for one in refdata.REPEATED]
    return (
        "\nIn every category but RSTA, unless it has a field of that name above:\n\n"
        + table(["tag", "shape", "parts"], rows)
    )


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
