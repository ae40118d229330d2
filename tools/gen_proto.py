"""Write msgx/rpc/v1 from proto/msgx/v1: messages, their types, and the services' stubs."""

import sys
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grpc_tools import protoc

from tools.page import ROOT, publish

SOURCES, PLACE = ROOT / "proto", "msgx/rpc/v1"


def pages() -> dict[str, str]:
    """Return the generated modules."""
    protos = sorted((SOURCES / "msgx" / "v1").glob("*.proto"))
    with TemporaryDirectory() as folder:
        arguments = [
            "protoc",
            f"-I{SOURCES}",
            f"-I{resources.files('grpc_tools') / '_proto'}",
            *(f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")),
            *map(str, protos),
        ]
        if protoc.main(arguments) != 0:
            raise SystemExit("proto/ does not compile")
        made = sorted((Path(folder) / "msgx" / "v1").iterdir())
        texts = {path.name: path.read_text("utf-8") for path in made}
    return {f"{PLACE}/{name}": _moved(text) for name, text in texts.items() if _says(text)}


def _moved(text: str) -> str:
    """Return the module with imports of where it stands: the packages of proto/ and of Python
    differ."""
    return text.replace("from msgx.v1 import ", "from msgx.rpc.v1 import ")


def _says(text: str) -> bool:
    """Tell whether there is anything in it: a file without services gives empty stubs."""
    return "class " in text or "DESCRIPTOR" in text


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
