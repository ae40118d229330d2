"""Pages that must stay true: generated ones are fresh, the index of decisions is whole, links
lead somewhere, and the first page names the two commands."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from msgx.config.parameters import PREFIX, parameters
from msgx.settings import AllSettings, load
from msgx.telemetry import metrics
from tests.architecture.sources import PRODUCT, ROOT, modules
from tools.page import publish

GENERATORS: Final = sorted(path.stem for path in (ROOT / "tools").glob("gen_*.py"))
ADR: Final = ROOT / "docs" / "adr"
SECTIONS: Final = ["Context", "Options", "Decision", "Consequences"]
LINK: Final = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
# Praise and filler, which tell a reader nothing.
EMPTY: Final = re.compile(
    r"\b(?:simply|seamless(?:ly)?|robust|powerful|blazing|leverag\w+|cutting-edge|world-class"
    r"|effortless(?:ly)?|state-of-the-art|out of the box|battle-tested|delve)\b",
    re.IGNORECASE,
)


def _documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def _decisions() -> list[Path]:
    return sorted(path for path in ADR.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_generated_page_says_what_the_code_says(generator: str) -> None:
    pages: dict[str, str] = importlib.import_module(f"tools.{generator}").pages()

    stale = [name for name, text in pages.items() if (ROOT / name).read_text("utf-8") != text]

    assert stale == [], "run `make pages`"


def test_check_tells_a_stale_page_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.md").write_text("old")
    monkeypatch.setattr("tools.page.ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["gen", "--check"])

    status = publish(lambda: {"page.md": "new"}, None)

    assert (status, (tmp_path / "page.md").read_text()) == (1, "old")


def test_the_first_page_begins_with_the_two_commands() -> None:
    commands = re.findall(
        r"^\$ (make \w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )

    assert commands[:2] == ["make demo", "make test"]


def test_every_decision_is_numbered_and_says_why() -> None:
    decisions = _decisions()

    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    for path in decisions:
        sections = re.findall(r"^## (\w+)", path.read_text("utf-8"), re.MULTILINE)
        assert sections == SECTIONS, path.name


def test_the_index_lists_every_decision_once_under_its_title() -> None:
    listed = re.findall(
        r"\[(\d{4}) ([^\]]+)\]\((\S+?)\)", (ADR / "README.md").read_text("utf-8")
    )

    titles = [
        (path.name[:4], path.read_text("utf-8").splitlines()[0].removeprefix("# "), path.name)
        for path in _decisions()
    ]
    assert [(number, f"{number} {title}", name) for number, title, name in listed] == titles


def test_every_ruling_that_the_code_cites_is_in_the_index() -> None:
    sources = [*modules(*PRODUCT), *(ROOT / "migrations").glob("*.sql")]
    cited = {
        one for path in sources for one in re.findall(r"\bR\d\d\b", path.read_text("utf-8"))
    }
    indexed = set(re.findall(r"\bR\d\d\b", (ADR / "README.md").read_text("utf-8")))

    assert sorted(cited - indexed) == []


def test_links_between_pages_lead_somewhere() -> None:
    broken = [f"{path.relative_to(ROOT)}: {link}" for path, link in _links()]

    assert broken == []


def _links() -> Iterator[tuple[Path, str]]:
    for path in _documents():
        for link in LINK.findall(path.read_text("utf-8")):
            if "://" not in link and not (path.parent / link).exists():
                yield path, link


def test_every_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    linked = {(ROOT / "docs" / link).resolve() for link in LINK.findall(index)}

    missing = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if path.resolve() not in linked
        and path.parent != ADR
        and path != ROOT / "docs" / "README.md"
    ]

    assert missing == []


def test_commands_that_pages_name_exist() -> None:
    text = "".join(path.read_text("utf-8") for path in _documents())
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    unknown = set(re.findall(r"[`$] ?make ([a-z]+)", text)) - set(targets)
    absent = {
        module
        for module in re.findall(r"python -m ([\w.]+)", text)
        if importlib.util.find_spec(module) is None
    }

    assert (unknown, absent) == (set(), set())


def test_parameters_and_metrics_that_pages_name_exist() -> None:
    known = {one.key.removeprefix("msgx.") for one in parameters(AllSettings)}
    named = {
        one
        for path in _documents()
        for one in re.findall(r"`msgx\.([a-z]+(?:[.-][a-z]+)+)`", path.read_text("utf-8"))
    }
    known |= {one.name.removeprefix("msgx.") for one in metrics.ALL}
    unknown = {one for one in named if one not in known and not _is_code(one)}

    assert unknown == set()


def _is_code(name: str) -> bool:
    return (ROOT / "msgx" / name.split(".")[0]).exists()


def test_pages_praise_nothing() -> None:
    empty = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in _documents()
        for word in EMPTY.findall(path.read_text("utf-8"))
    ]

    assert empty == []


@pytest.mark.covers("R37")
def test_the_example_environment_is_one_that_services_accept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    given = dict(
        line.lstrip("#").split("=", 1) for line in lines if PREFIX in line.split("=")[0]
    )
    for name, value in given.items():
        if value:  # else it is not set by default
            monkeypatch.setenv(name, value)

    settings = load(AllSettings)

    assert set(given) == {one.variable for one in parameters(AllSettings)}
    assert settings.pipeline == type(settings.pipeline)()
    assert settings.dispatch == type(settings.dispatch)()
