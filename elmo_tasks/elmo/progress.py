"""Bars that show how many tokens are done."""

from tqdm import tqdm

from elmo_tasks.system.terminal import terminal_bar

_UNIT = {"unit": " tokens", "unit_scale": True}


def progress_bar(total: int | None = None, *, visible: bool = True) -> tqdm:
    """A bar of tokens, to be used in a `with`; `update(tokens)` moves it."""
    return tqdm(total=total, disable=not visible, **_UNIT)


def token_bar() -> tqdm:
    """The same on a terminal alone, for commands."""
    return terminal_bar(**_UNIT)
