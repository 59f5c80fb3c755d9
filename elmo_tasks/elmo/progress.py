"""A bar that shows how many tokens are done."""

from tqdm import tqdm


def progress_bar(total: int | None = None, *, visible: bool = True) -> tqdm:
    """A bar of tokens, to be used in a `with`; `update(tokens)` moves it."""
    return tqdm(total=total, unit=" tokens", unit_scale=True, disable=not visible)
