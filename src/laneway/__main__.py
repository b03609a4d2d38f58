"""The program: ``laneway``, and ``python -m laneway``."""

import sys

INTERRUPTED = 128 + 2
"""The exit status of what SIGINT ended, as shells have it. The enum of all of them is not loaded yet."""


def main() -> int:
    """Runs this process's command line and returns its exit status.

    Ctrl-C prints no traceback, also while Python is still loading what the command line is made of.
    """
    try:
        from laneway.cli import main as run  # noqa: PLC0415 - here, so that loading it can be interrupted

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
