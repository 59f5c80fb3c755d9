"""A bar that shows how many tokens are done."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

logger = logging.getLogger(__name__)


@contextmanager
def progress_bar(total: int | None = None, *, visible: bool = True) -> Iterator[Any]:
    """
    A bar of tokens with `update(tokens)` and `reset(total)`. Without the package tqdm,
    a warning says so.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        if visible:
            logger.warning(
                "no progress is shown: this needs the package tqdm (pip install tqdm)"
            )
        yield SimpleNamespace(update=lambda tokens: None, reset=lambda total: None)
        return
    with tqdm(total=total, unit=" tokens", unit_scale=True, disable=not visible) as bar:
        yield bar
