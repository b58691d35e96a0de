"""Writes all that is generated from the contract; with --check it only compares.

python -m tests.tools.contract [--check] [root]
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.tools.contract import help, lua_types, page

ROOT = Path(__file__).resolve().parents[3]


def generated() -> dict[str, str]:
    """The files, by their paths from the root of the repository."""
    annotations = {f"lua/acp_nvim/types/{name}": text for name, text in lua_types.files().items()}
    return {**annotations, "doc/development/contract.md": page.page(), "doc/acp_nvim.txt": help.text()}


def main(arguments: list[str]) -> int:
    """Write the files, or say which are not what the structs say, or which has no place for what is generated."""
    roots = [Path(one) for one in arguments if not one.startswith("--")]
    root = roots[0] if roots else ROOT
    differing = []
    try:
        files = generated()
    except LookupError as missing:
        print(missing.args[0], file=sys.stderr)
        return 1
    for name, text in files.items():
        path = root / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        differing.append(name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    if differing and "--check" in arguments:
        print(f"{', '.join(differing)} and the structs differ: run `make doc`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
