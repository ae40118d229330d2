"""Write docs/traceability.md: which tests cover an id, which modules cite it; fail on an
invariant that has neither a test nor a known gap."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.page import ROOT, notice, publish, table

PAGE, LIST = "docs/traceability.md", "tools/invariants.toml"
_CITED = re.compile(
    r"\b(?:INV-\d+b?|US-\d\d|C-\d+|CLM-\d+|R\d\d|B\d{2,3}|G-[A-Z]+(?:-[A-Z]+)*)\b"
)
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("C-", "Agreements"),
    ("CLM-", "Limits of what is promised"),
    ("R", "Rulings (see adr/README.md)"),
    ("B", "Faults that happened elsewhere and must not happen here"),
    ("G-", "Gaps that the specification named"),
)

Found = Mapping[str, set[str]]


def pages() -> dict[str, str]:
    """Return the page.

    Raises:
        SystemExit: an invariant is neither covered nor a known gap, or a test covers one that
        there is not.
    """
    listed = tomllib.loads((ROOT / LIST).read_text(encoding="utf-8"))
    invariants, needs, gaps = (listed[name] for name in ("invariants", "requirements", "gaps"))
    tests, code = _found("tests", _covered), _found(("msgx", "services"), _cited)
    if bare := [one for one in invariants if one not in tests and one not in gaps]:
        raise SystemExit(f"neither a test nor a known gap in {LIST}: {', '.join(bare)}")
    text = (
        "# What covers what\n\n"
        + notice("gen_traceability")
        + (
            "Tests are named by `@pytest.mark.covers`, modules by the ids they cite."
            f" Invariants and known gaps stand in `{LIST}`; one that has neither a test nor a"
            " gap fails `make check`.\n"
        )
    )
    for title, ids in (("Invariants", invariants), ("Requirements", needs)):
        rows = (
            [one, said, _evidence(one, gaps, tests), _paths(code.get(one, ()))]
            for one, said in ids.items()
        )
        text += f"\n## {title}\n\n" + table(["id", "says", "tests, or why not", "code"], rows)
    for prefix, title in _FAMILIES:
        found = {one for one in (*tests, *code) if re.fullmatch(rf"{prefix}[0-9A-Z-]+", one)}
        rows = (
            [one, _paths(tests.get(one, ())), _paths(code.get(one, ()))]
            for one in sorted(found, key=_in_order)
            if one not in needs
        )
        text += f"\n## {title}\n\n" + table(["id", "tests", "code"], rows)
    return {PAGE: text}


def _evidence(one: str, gaps: Mapping[str, str], tests: Found) -> str:
    """Return why there is no test, or not all of it, and the tests that there are."""
    return "<br>".join(filter(None, (gaps.get(one), _paths(tests.get(one, ())))))


def _found(
    folders: str | tuple[str, ...], ids_of: Callable[[str], Iterator[str]]
) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for folder in (folders,) if isinstance(folders, str) else folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for one in ids_of(path.read_text(encoding="utf-8")):
                found[one].add(path.relative_to(ROOT).as_posix())
    return dict(found)


def _cited(source: str) -> Iterator[str]:
    yield from _CITED.findall(source)


def _covered(source: str) -> Iterator[str]:
    """Yield the ids of every `covers(…)` mark; an acceptance criterion counts for its story."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr != "covers":
            continue
        for argument in node.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value.split()[0]


def _paths(paths: Iterable[str]) -> str:
    return "<br>".join(f"`{path.removeprefix('tests/')}`" for path in sorted(paths))


def _in_order(one: str) -> tuple[str, int, str]:
    number = re.search(r"\d+", one)
    return re.sub(r"\d+.*", "", one), int(number[0]) if number else 0, one


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
