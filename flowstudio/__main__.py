"""`python -m flowstudio` is `flowstudio`."""

import sys

from flowstudio.cli import main

sys.exit(main())
