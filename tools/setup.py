"""Make a bare Debian or Ubuntu ready: packages, the virtual environment, Kafka's libraries.

Run by `make setup` with the system's Python and nothing else, so: standard library only, and
no syntax that an old Python could not read, since the first step says that it is too old.
A second run finds everything done and adds nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "setup.stamp"
LOG = ROOT / ".msgx" / "setup.log"
OLDEST_PYTHON = (3, 11)
JAVA = range(17, 23)
SBIN = "/usr/sbin:/sbin:/usr/local/sbin"


class Need(NamedTuple):
    """Something to install: its packages by preference, or the variable to name a server by."""

    packages: tuple[str, ...]
    instead: str


POSTGRES = Need(("postgresql",), "MSGX_TEST_POSTGRES_URL")
MARIADB = Need(("mariadb-server-core", "mariadb-server-core-10.6"), "MSGX_TEST_MYSQL_URL")
MARIADB_TOOLS = Need(("mariadb-client-core", "mariadb-client-core-10.6"), "MSGX_TEST_MYSQL_URL")
REDIS = Need(("redis-server",), "MSGX_TEST_REDIS_URL")
JDK = Need(("openjdk-17-jdk-headless", "openjdk-21-jdk-headless"), "MSGX_TEST_KAFKA_URL")
MAVEN = Need(("maven",), "MSGX_TEST_KAFKA_URL")


class SetupFault(Exception):
    """One sentence for the person at the terminal."""


def main(arguments: list[str]) -> int:
    """Do every step that is not done yet."""
    begun = perf_counter()
    try:
        python_only = "--python-only" in arguments
        _check_python()
        _install_packages([] if python_only else _missing_servers())
        _make_environment()
        if not python_only and not os.environ.get("MSGX_TEST_KAFKA_URL"):
            _fetch_libraries()
    except SetupFault as fault:
        print(f"setup: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; the next run goes on from here.", file=sys.stderr)
        return 130
    if not python_only:
        print(f"setup: ready ({perf_counter() - begun:.1f} s)")
    return 0


def _check_python() -> None:
    if sys.version_info < OLDEST_PYTHON:
        raise SetupFault(
            f"Python {sys.version.split()[0]} is too old: 3.11 or newer is needed; "
            "if there is one under another name, run `make PYTHON=python3.x setup`."
        )


def _missing_servers() -> list[Need]:
    """Return what has to be installed for the local stack, unless a URL names a server."""
    postgres = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    found = (
        (POSTGRES, any(postgres) or _has("initdb")),
        (MARIADB, _has("mariadbd") and _has("mariadb-install-db")),
        (MARIADB_TOOLS, _has("mariadb") or _has("my_print_defaults")),
        (REDIS, _has("redis-server")),
        (JDK, _has_java()),
        (MAVEN, _has("mvn") or _cached_libraries()),
    )
    return [need for need, there in found if not there and not os.environ.get(need.instead)]


def _has(program: str) -> bool:
    return bool(shutil.which(program) or shutil.which(program, path=SBIN))


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    candidates = [f"{home}/bin/java"] if home else []
    candidates += [
        shutil.which("java") or "",
        *map(str, Path("/usr/lib/jvm").glob("*/bin/java")),
    ]
    for candidate in candidates:
        if not candidate or not Path(candidate).exists():
            continue
        said = subprocess.run([candidate, "-version"], stderr=subprocess.PIPE, check=False)
        version = re.search(rb'version "(\d+)', said.stderr)
        if version and int(version.group(1)) in JAVA:
            return True
    return False


def _cached_libraries() -> bool:
    pom = (ROOT / "deploy" / "local" / "pom-kafka.xml").read_text()
    version = re.search(r"<artifactId>kafka_.*?<version>(.*?)<", pom, re.DOTALL)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return version is not None and (cache / "msgx" / f"kafka-{version.group(1)}").is_dir()


def _install_packages(needs: list[Need]) -> None:
    packages = ([] if _has_venv() else [_venv_package()]) + [
        _available(need.packages) for need in needs
    ]
    if not packages:
        return
    names = " ".join(packages)
    by_hand = f"`sudo apt-get install -y --no-install-recommends {names}`."
    servers = sorted({need.instead for need in needs})
    instead = f" Running servers can be named instead: {', '.join(servers)}." if servers else ""
    if not _has("apt-get"):
        raise SetupFault(
            f"needed and not installed: {names} (names of Debian); there is no apt-get here, "
            f"install them by your system's means.{instead}"
        )
    installer = ["sh", str(ROOT / "tools" / "install_packages.sh"), *packages]
    if os.geteuid() != 0:
        if not _sudo():
            raise SetupFault(
                f"packages are missing and installing them needs an administrator: {by_hand}"
                f"{instead}"
            )
        installer = ["sudo", "-n", *installer]
    if not _step(f"installing {names}", installer):
        raise SetupFault(
            f"the packages could not be installed (no network?); see {LOG}, or try: {by_hand}"
            f"{instead}"
        )


def _has_venv() -> bool:
    if (VENV / "bin" / "python").exists():
        return True
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def _venv_package() -> str:
    return "python{}.{}-venv".format(*sys.version_info[:2])


def _available(candidates: tuple[str, ...]) -> str:
    """Return the first candidate that this release has; the first of all if none is known."""
    if len(candidates) > 1 and _has("apt-cache"):
        for name in candidates:
            said = subprocess.run(["apt-cache", "show", name], capture_output=True, check=False)
            if said.returncode == 0 and said.stdout:
                return name
    return candidates[0]


def _sudo() -> bool:
    if not _has("sudo"):
        return False
    return (
        subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    )


def _make_environment() -> None:
    python = VENV / "bin" / "python"
    wanted = hashlib.sha256(
        b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
        + sys.version.encode()
        + str(ROOT).encode()
    ).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted and _runs(python):
        return
    if not _runs(python):
        shutil.rmtree(VENV, ignore_errors=True)
        if not _step(
            "making the virtual environment", [sys.executable, "-m", "venv", str(VENV)]
        ):
            raise SetupFault(f"the virtual environment could not be made; see {LOG}.")
    install = [
        str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
        "-c", "constraints.txt", "-e", ".[dev]",
    ]  # fmt: skip
    if not _step("installing Python packages", install):
        raise SetupFault(
            f"the Python packages could not be installed (no network?); see {LOG}."
        )
    STAMP.write_text(wanted)


def _runs(python: Path) -> bool:
    if not python.exists():
        return False
    try:
        return subprocess.run([str(python), "-c", ""], check=False).returncode == 0
    except OSError:
        return False


def _fetch_libraries() -> None:
    command = [str(VENV / "bin" / "python"), "-m", "deploy.local", "fetch"]
    if _cached_libraries():
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        fetched, said = done.returncode == 0, done.stderr.strip()
    else:
        fetched = _step("fetching Kafka's libraries", command)
        said = LOG.read_text(errors="replace").strip() if LOG.exists() else ""
    if not fetched:
        raise SetupFault(said or f"Kafka's libraries could not be fetched; see {LOG}.")


def _step(title: str, command: list[str]) -> bool:
    """Run one step with its output in the log, and show how long it takes on one line."""
    begun = perf_counter()
    LOG.parent.mkdir(exist_ok=True)
    live = sys.stdout.isatty()
    print(f"setup: {title} ...", end="" if live else "\n", flush=True)
    with LOG.open("wb") as log:
        running = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _follow(running, title, begun, live)
        except BaseException:
            running.terminate()
            running.wait()
            raise
    done = running.returncode == 0
    outcome = "done" if done else "failed"
    lead = "\r" if live else ""
    print(f"{lead}setup: {title}: {outcome} after {perf_counter() - begun:.0f} s", flush=True)
    return done


def _follow(running: subprocess.Popen[bytes], title: str, begun: float, live: bool) -> None:
    rest = threading.Event()
    while running.poll() is None:
        if live:
            print(f"\rsetup: {title} ... {perf_counter() - begun:.0f} s", end="", flush=True)
        rest.wait(0.2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
