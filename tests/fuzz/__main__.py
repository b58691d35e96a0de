"""Runs the fuzzer over the wire layer (`make fuzz`), or many made-up streams where there is no fuzzer for this Python.

`python -m tests.fuzz FILE` tries one stream that was found before.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "fuzz"
CASES = 200_000
FUZZED = ("acp_nvim.jsonrpc", "acp_nvim.acp")


def main(arguments: list[str]) -> None:
    """Fuzz for `FUZZ_SECONDS`, or 60."""
    sys.path.insert(0, str(CACHE / "site"))
    if arguments:
        try_one = make_try()
        for name in arguments:
            try_one(Path(name).read_bytes())
    elif importlib.util.find_spec("atheris") is not None:
        fuzz(os.environ.get("FUZZ_SECONDS", "60"))
    else:
        make_up()


def fuzz(seconds: str) -> None:
    """Guided by coverage. Streams that find something new are kept in the cache, those that fail too."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=list(FUZZED)):
        try_one = make_try()
    options = [f"-max_total_time={seconds}", f"-dict={HERE / 'tokens.dict'}", f"-artifact_prefix={CACHE}/"]
    options += ["-max_len=1024", "-timeout=10", "-print_final_stats=1", str(CACHE / "corpus"), str(HERE / "seeds")]
    atheris.Setup([sys.argv[0], *options], try_one)
    atheris.Fuzz()


def make_try():
    """What tries one stream; its last byte is the size of the pieces that it is cut into. Imports what is fuzzed."""
    from acp_nvim.acp.v1 import DialectV1
    from acp_nvim.acp.v2 import DialectV2
    from tests.fuzz.harness import Harness
    from tests.fuzz.streams import cut

    dialects = [DialectV1(), DialectV2()]

    def listen(params: msgspec.Raw) -> None:
        for dialect in dialects:
            try:
                dialect.update(params)
            except msgspec.DecodeError:
                pass
            except Exception as error:
                raise SystemExit(f"decoding an update of version {dialect.version}: {error!r}") from error

    harness = Harness(listen)
    return lambda stream: harness.check_stream(stream, cut(stream, stream[-1] if stream else 0))


def make_up() -> None:
    """Fuzz without guidance, with words that peers use."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    from tests.fuzz.streams import streams

    try_one = make_try()
    quiet = settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    quiet(given(streams, st.binary(max_size=1))(lambda stream, size: try_one(stream + size)))()
    print(f"{CASES} streams, nothing found")


if __name__ == "__main__":
    main(sys.argv[1:])
