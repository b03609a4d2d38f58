"""``python -m laneway``."""

import sys

from laneway.cli import main

sys.exit(main())
