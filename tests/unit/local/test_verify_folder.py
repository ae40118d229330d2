"""`make verify` finds the demo that is meant, and never another stack."""

import os
from pathlib import Path

import pytest

from deploy.local import folder as folders
from deploy.local.faults import CannotStart
from deploy.local.verify import DEMO, newest


def _folder(root: Path, name: str, *, demo: bool = True, kept: bool = True, at: int) -> Path:
    folder = root / f"{folders.PREFIX}{name}"
    (folder / DEMO.parent).mkdir(parents=True)
    if demo:
        (folder / DEMO).touch()
    if kept:
        (folder / folders.KEPT).touch()
    os.utime(folder, (at, at))
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("MSGX_LOCAL_FOLDER", raising=False)
    return tmp_path


def test_the_demo_that_was_kept_last_is_verified(root: Path) -> None:
    _folder(root, "old", at=1)
    last = _folder(root, "new", at=2)
    _folder(root, "a-stack", demo=False, at=3)
    _folder(root, "ended", kept=False, at=4)

    assert newest() == last


def test_a_named_folder_is_verified(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _folder(root, "new", at=2)
    monkeypatch.setenv("MSGX_LOCAL_FOLDER", str(root / "mine"))

    assert newest() == root / "mine"


def test_without_a_demo_one_sentence_says_how_to_get_one(root: Path) -> None:
    _folder(root, "a-stack", demo=False, at=1)

    with pytest.raises(CannotStart, match="make demo ONCE=1 KEEP=1"):
        newest()
