"""What an operator of the demo needs: a token, and a configuration that finds the services."""

import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local.faults import CannotStart

ROOT: Final = Path(__file__).parents[3]
LIMIT: Final = 60.0


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the token and the configuration of msgxctl stand, for their owner only."""

    token: Path
    config: Path

    def msgxctl(self, *arguments: object) -> str:
        """Run a command and return what it printed.

        Raises:
            CannotStart: it did not do what it was asked.
        """
        words = [str(one) for one in arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MSGXCTL_")}
        done = subprocess.run(
            [sys.executable, "-m", "msgxctl", *words],
            cwd=ROOT, timeout=LIMIT, check=False, text=True, capture_output=True,
            env=environment | {"MSGXCTL_CONFIG": str(self.config), "MSGXCTL_OPERATOR": "demo"},
        )  # fmt: skip
        if done.returncode != 0:
            raise CannotStart(f"msgxctl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout


def open_desk(folder: Path, control: Mapping[str, str], http: str) -> Desk:
    """Make a token and write what msgxctl reads."""
    desk = Desk(folder / "admin.token", folder / "msgxctl.toml")
    _write(desk.token, secrets.token_urlsafe(24))
    lines = [f'token_file = "{desk.token}"', f'api = "http://{http}"']
    for service, address in control.items():
        lines.append(f'{"api-control" if service == "api" else service} = "{address}"')
    _write(desk.config, "\n".join(lines) + "\n")
    return desk


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
