"""Where Neovim's Python host finds acp_nvim: the package lies in this repository, and is taken from nowhere else."""

import sys
from pathlib import Path

if "acp_nvim" not in sys.modules:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from acp_nvim.plugin import AcpPlugin

__all__ = ["AcpPlugin"]
