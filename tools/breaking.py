"""Refuse a change of proto/ that breaks those who call: against the last release, else main.

Run by `make check`. It needs the git history and no network: in a clone without tags and
without a main branch there is only HEAD to compare with, and it says so.
"""

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.page import ROOT

RELEASES = "v[0-9]*"
CONTRACT = "proto/buf.yaml"  # from its first commit on, callers may rely on proto/
BRANCHES = ("main", "origin/main", "HEAD")


def base(repository: Path) -> str:
    """Return what to compare with: the last release that this tree descends from, else main.

    Raises:
        SystemExit: there is no commit.
    """
    release = _git(repository, "describe", "--tags", "--abbrev=0", "--match", RELEASES)
    if release is not None:
        return release.decode().strip()
    for name in BRANCHES:
        if _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"):
            return name
    raise SystemExit("there is no commit to compare proto/ with")


def check(repository: Path, against: str) -> str:
    """Return what breaks callers of `against`, one line each; empty: nothing."""
    if _git(repository, "cat-file", "-e", f"{against}:{CONTRACT}") is None:
        return ""  # nothing was promised to callers yet
    if (archive := _git(repository, "archive", "--format=zip", against, "proto")) is None:
        raise SystemExit(f"git gives no proto/ of {against}")
    with TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            files.extractall(folder)
        done = subprocess.run(
            [str(_buf()), "breaking", "proto", "--against", f"{folder}/proto"],
            cwd=repository,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in (0, 100):  # 100: something breaks
        raise SystemExit(f"buf breaking failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _buf() -> Path:
    return Path(sys.executable).with_name("buf")


def _git(repository: Path, *arguments: str) -> bytes | None:
    """Return what git says; None: it refuses."""
    # Whoever checks out may be another user than the one who checks.
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def main() -> int:
    """Compare, and say what breaks."""
    if _git(ROOT, "rev-parse", "--git-dir") is None:
        print("proto/ is compared with nothing: this is no git checkout")
        return 0
    against = base(ROOT)
    broken = check(ROOT, against)
    print(broken or f"proto/ breaks no caller of {against}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
