"""``python -m laneway.hosts.hyperv``: writes a recording of this Windows host, to be read elsewhere or sent along."""

import sys

from laneway.domain.errors import LanewayError
from laneway.hosts.hyperv.live import record
from laneway.hosts.hyperv.recording import encode_recording


def main() -> int:
    try:
        recording = encode_recording(record())
    except LanewayError as failure:
        sys.stderr.write(f"{failure.message}\n")
        return 69
    sys.stdout.buffer.write(recording + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
