"""``python -m padops``: the command line."""

import sys

from padops.cli import main

sys.exit(main())
