"""The file beside the environment: a small YAML document of names and texts.

Every value is a text, as a variable's is: `no`, `012` and `12:30` mean what they say. Aliases,
tags and a key given twice are refused.
"""

import stat
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml

MOST_BYTES: Final = 256 * 1024


class Unreadable(Exception):
    """A file cannot be used; the text says why, and shows neither its name nor its content."""


class _Loader(yaml.BaseLoader):
    """Texts, lists and mappings, and nothing else."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(
                problem="an alias or a tag", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, Any]:
        names = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem="a key is no name", problem_mark=key.start_mark
                )
            if key.value in names:
                raise yaml.MarkedYAMLError(
                    problem="a key is given twice", problem_mark=key.start_mark
                )
            names.add(key.value)
        return super().construct_mapping(node, deep=deep)


def text_of(path: str, *, most: int = MOST_BYTES) -> str:
    """Return what the file holds.

    Raises:
        Unreadable: why not.
    """
    file = Path(path)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise Unreadable("names something that is no file")
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except FileNotFoundError:
        raise Unreadable("names a file that is not there") from None
    except (OSError, ValueError):
        raise Unreadable("names a file that may not be read") from None
    if len(content) > most:
        raise Unreadable(f"names a file of more than {most} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("names a file that is not UTF-8") from None


def document(path: str) -> Any:
    """Return the file's document: texts in lists and mappings; None: it is empty.

    Raises:
        Unreadable: why not.
    """
    text = text_of(path)
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        raise Unreadable(f"names a file that is not plain YAML{place}") from None
    except (yaml.YAMLError, RecursionError):
        raise Unreadable("names a file that is not plain YAML") from None
