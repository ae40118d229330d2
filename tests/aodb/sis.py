"""Writes SIS messages: a small element tree, its many legal layouts, and SIS times."""

import random
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
XSI = (
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:noNamespaceSchemaLocation = "sis.xsd"'
)


@dataclass(frozen=True, slots=True)
class Node:
    """An element with attributes and either a text or children."""

    tag: str
    text: str = ""
    _: KW_ONLY
    attrs: tuple[tuple[str, str], ...] = ()
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class Meta:
    """The five texts of META."""

    sndr: str
    type: str
    styp: str
    seqn: str
    dttm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a message is laid out; two layouts of one content are the same content (R59)."""

    lead: str = ""
    declaration: str = '<?xml version="1.0" encoding="UTF-8"?>'
    newline: str = "\n"
    indent: str = "\t"
    trail: str = ""
    quote: str = '"'
    self_closing: bool = True
    xsi: str = ""
    cdata: bool = False
    remark: bool = False


def el(tag: str, text: str = "", *children: Node, **attrs: str) -> Node:
    """Makes an element; attributes keep their order."""
    return Node(tag, text, attrs=tuple(attrs.items()), children=children)


def sis_time(at: datetime, rng: random.Random | None = None) -> str:
    """Writes an airport-local instant as DDMMMYYhhmm; now and then in another case (B84)."""
    month = MONTHS[at.month - 1]
    if rng is not None and rng.random() < 0.08:
        month = rng.choice((month.title(), month.lower()))
    return f"{at.day:02d}{month}{at.year % 100:02d}{at.hour:02d}{at.minute:02d}"


def any_layout(rng: random.Random) -> Layout:
    """Picks one of the layouts that were seen on the interface, the plain one most often."""
    plain = Layout(xsi=XSI if rng.random() < 0.3 else "")
    dice = rng.random()
    if dice < 0.6:
        return plain
    if dice < 0.75:
        return replace(plain, newline="", indent="", self_closing=rng.random() < 0.5)
    return replace(
        plain,
        declaration=rng.choice(
            (
                "",
                '<?xml version="1.0"?>',
                "<?xml version='1.0' encoding='utf-8'?>",
                '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
                '<?xml version="1.0" encoding="GB2312"?>',
            )
        ),
        indent=rng.choice(("\t", "  ", " \t", "")),
        newline=rng.choice(("\n", "\r\n")),
        trail=rng.choice(("", "\n", "  \r\n\t ")),
        self_closing=rng.random() < 0.5,
    )


def other_layout(layout: Layout) -> Layout:
    """Lays the same content out in another way: blanks, quotes, CDATA, comments."""
    return replace(
        layout,
        newline="" if layout.newline else "\r\n",
        indent="" if layout.indent else "    ",
        quote="'" if layout.quote == '"' else '"',
        self_closing=not layout.self_closing,
        cdata=True,
        remark=True,
    )


def render(meta: Meta, body: tuple[Node, ...], layout: Layout) -> str:
    """Writes the whole message."""
    head = Node(
        "META",
        children=(
            Node("SNDR", meta.sndr),
            Node("SEQN", meta.seqn),
            Node("DTTM", meta.dttm),
            Node("TYPE", meta.type),
            Node("STYP", meta.styp),
        ),
    )
    plain = replace(layout, cdata=False, remark=False)
    parts = [layout.lead, layout.declaration, layout.newline if layout.declaration else ""]
    parts.append(f"<MSG{layout.xsi}>{layout.newline}")
    _write(head, parts, 1, plain)
    if layout.remark:
        parts.append(f"<!-- sent again -->{layout.newline}")
    for node in body:
        _write(node, parts, 1, layout)
    parts.append(f"</MSG>{layout.trail}")
    return "".join(parts)


def _write(node: Node, parts: list[str], depth: int, layout: Layout) -> None:
    pad = layout.indent * depth
    attrs = "".join(f" {key}={_quoted(value, layout.quote)}" for key, value in node.attrs)
    if not node.text and not node.children:
        empty = "/>" if layout.self_closing else f"></{node.tag}>"
        parts.append(f"{pad}<{node.tag}{attrs}{empty}{layout.newline}")
        return
    parts.append(f"{pad}<{node.tag}{attrs}>")
    if node.children:
        parts.append(layout.newline)
        for child in node.children:
            _write(child, parts, depth + 1, layout)
        parts.append(pad)
    elif layout.cdata and "]]>" not in node.text:
        parts.append(f"<![CDATA[{node.text}]]>")
    else:
        parts.append(_escaped(node.text))
    parts.append(f"</{node.tag}>{layout.newline}")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(value: str, quote: str) -> str:
    named = "&quot;" if quote == '"' else "&apos;"
    return f"{quote}{_escaped(value).replace(quote, named)}{quote}"
