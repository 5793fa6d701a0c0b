# SPDX-License-Identifier: Apache-2.0
"""What west-commands.yml names; the command itself is in zephyr_ask/cli.py.

west imports this file under a name that is not in sys.modules and hides what goes wrong
meanwhile behind an unrelated AttributeError, so nothing here may fail.
"""

import sys
from pathlib import Path

if sys.version_info < (3, 10):  # noqa: UP036  west itself runs on older ones
    sys.exit(
        f"west ask needs Python 3.10 or newer; this west runs on {sys.version.split()[0]} "
        f"({sys.executable}).\n  Try: python3.12 -m pip install west, and run that west."
    )

ROOT = Path(__file__).resolve().parent.parent
if (ROOT / "zephyr_ask").is_dir():
    # The clone that west registered wins over a copy that pip installed.
    sys.path.insert(0, str(ROOT))

from zephyr_ask.cli import Ask  # noqa: E402

__all__ = ["Ask"]
