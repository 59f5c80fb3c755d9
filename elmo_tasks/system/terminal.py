"""Progress bars."""

import os
import sys
from typing import Any

from tqdm import tqdm

QUIET = "TQDM_DISABLE"
"""The variable that turns off the bars of all libraries in a process and its children."""


def terminal_bar(**options: Any) -> tqdm:
    """A bar of tqdm on a terminal; elsewhere, and with `QUIET`, it shows nothing."""
    is_shown = sys.stderr.isatty() and not os.environ.get(QUIET)
    return tqdm(disable=not is_shown, **options)
