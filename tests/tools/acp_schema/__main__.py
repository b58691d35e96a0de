"""`python -m tests.tools.acp_schema [--check] [DIRECTORY]`: writes the generated types, or says which are old."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.tools.acp_schema.writing import modules

ROOT = Path(__file__).resolve().parents[3]
TARGET = ROOT / "acp_nvim" / "acp"
SCHEMAS = ROOT / ".cache/peers/node_modules/@agentclientprotocol/sdk/schema"


def formatted(text: str, path: Path) -> str:
    """The text as the project's formatter writes it."""
    for command in (["check", "--select=I", "--fix-only", "--quiet", "-"], ["format", "-"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path)],
            cwd=ROOT,
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 when a generated file is not what the schemas say."""
    check = "--check" in arguments
    directories = [one for one in arguments if one != "--check"]
    schemas = Path(directories[0]) if directories else SCHEMAS
    try:
        texts = modules(schemas)
    except OSError as error:
        print(f"the schemas cannot be read: {error}; `make setup` brings them", file=sys.stderr)
        return 1
    old = []
    for name, raw in texts.items():
        path = TARGET / f"{name}.py"
        text = formatted(raw, path)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        old.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    for one in old:
        print(f"{one}: not what the schema says, run `make schema`" if check else f"{one}: written")
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
