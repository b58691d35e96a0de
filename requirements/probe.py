"""Tells whether this Python can run the host, or that it cannot: with its exit code, after its version.

It runs in any Python, also in one that is much too old. A second line says in words what a usable one lacks.
"""

import os
import sys

TOO_OLD, WITHOUT_VENV, DEFECTIVE, TOO_NEW = 3, 4, 5, 6
"""Exit codes; 0: nothing is missing. The last two can run the host, if there is no better one."""


def main():  # type: () -> int  # noqa: ANN201 - annotations are newer
    """Prints the version, and returns the exit code."""
    print("%d.%d.%d" % sys.version_info[:3])  # noqa: UP031 - f-strings are newer
    if sys.version_info < (3, 11):  # noqa: UP036 - it may be
        return TOO_OLD
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return WITHOUT_VENV
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from acp_nvim import pythons

    for words, code in ((pythons.newness(), TOO_NEW), (pythons.defect(), DEFECTIVE)):
        if words:
            print(words)
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
