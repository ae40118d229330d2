"""A change of proto/ that breaks callers is refused, and is compared with the right commit."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT
from tools.breaking import base, check

FILE: Final = "msgx/v1/delivery.proto"
IDENTITY: Final = ("-c", "user.name=test", "-c", "user.email=test@example.org")


class Repository:
    """A git repository that has our proto/."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        shutil.copytree(ROOT / "proto", path / "proto")
        self.git("init", "-q", "-b", "main")
        self.commit("first")

    def git(self, *arguments: str) -> None:
        """Run git."""
        command = ["git", *IDENTITY, *arguments]
        subprocess.run(command, cwd=self.path, check=True, capture_output=True)

    def commit(self, words: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", words)

    def change(self, old: str, new: str) -> None:
        """Change the file of deliveries."""
        path = self.path / "proto" / FILE
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    def clone(self, path: Path, *options: str) -> Path:
        """Return a clone of this one, at a commit and on no branch."""
        subprocess.run(
            ["git", "clone", "-q", *options, f"file://{self.path}", str(path)],
            check=True,
            capture_output=True,
        )
        for command in (["checkout", "-q", "--detach"], ["branch", "-q", "-D", "main"]):
            subprocess.run(["git", *command], cwd=path, check=True, capture_output=True)
        subprocess.run(["git", "remote", "remove", "origin"], cwd=path, check=True)
        return path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """The repository of a test."""
    return Repository(tmp_path / "origin")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("string flid = 2;", "string flid = 9;", 'field "2" with name "flid"'),
        ("string flid = 2;", "int64 flid = 2;", 'type from "string" to "int64"'),
        ("  rpc Requeue(", "  rpc Repeat(", 'RPC "Requeue"'),
    ],
)
def test_a_change_that_breaks_callers_is_refused(
    repository: Repository, old: str, new: str, words: str
) -> None:
    repository.change(old, new)

    assert words in check(repository.path, base(repository.path))


def test_a_change_that_only_adds_is_not(repository: Repository) -> None:
    repository.change("string flid = 2;", "string flid = 2;\n  string airline = 99;")

    assert check(repository.path, base(repository.path)) == ""


def test_the_last_release_is_compared_with_then_main_then_the_commit_itself(
    repository: Repository, tmp_path: Path
) -> None:
    assert base(repository.path) == "main"
    repository.git("tag", "v0.1.0")
    repository.commit("second")
    repository.git("tag", "v0.2.0")
    repository.git("tag", "other")
    repository.commit("third")
    assert base(repository.path) == "v0.2.0"

    bare = repository.clone(tmp_path / "bare", "--no-tags", "--depth=1")

    assert base(bare) == "HEAD"
    assert check(bare, "HEAD") == ""


def test_what_had_no_proto_has_no_callers(repository: Repository) -> None:
    repository.git("rm", "-q", "-r", "proto")
    repository.commit("without")
    shutil.copytree(ROOT / "proto", repository.path / "proto")

    assert check(repository.path, "HEAD") == ""


def test_what_promised_nothing_yet_may_be_broken(repository: Repository) -> None:
    repository.git("rm", "-q", "proto/buf.yaml")
    repository.commit("before the promise")
    shutil.copy(ROOT / "proto/buf.yaml", repository.path / "proto")
    repository.change("string flid = 2;", "")

    assert check(repository.path, base(repository.path)) == ""


def test_without_any_commit_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no commit"):
        base(tmp_path)
