"""The host's log file, in which secrets are masked."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path

from acp_nvim.limits import LOG_BYTES
from acp_nvim.messages import Config
from acp_nvim.process import umask
from acp_nvim.traffic.log_rate import LogRate
from acp_nvim.traffic.masked_log import MaskingFormatter


def configured_env(config: Config) -> dict[str, str]:
    """The environment variables of all agents, which hold their keys; numbered, since agents share names."""
    agents = config.agents.values() if isinstance(config.agents, dict) else ()
    settings = [one.get("env") for one in agents if isinstance(one, dict)]
    return {
        f"{number} {name}": value
        for number, env in enumerate(settings)
        if isinstance(env, dict)
        for name, value in env.items()
        if isinstance(value, str)
    }


def start_log(path: str, env: Mapping[str, str]) -> None:
    """From now on everything goes into the file at `path`, which is rotated; secrets (of `env`, too) are masked."""
    logger = logging.getLogger("acp_nvim")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    umask.narrow(Path(path))
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace")
    handler.addFilter(LogRate())
    handler.setFormatter(MaskingFormatter("%(asctime)s [%(process)d] %(levelname)s %(name)s: %(message)s", env))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
