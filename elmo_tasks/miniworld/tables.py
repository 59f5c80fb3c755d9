"""Reading the tables, which are written as plain text for the sake of those who extend them."""


def entries(text: str) -> tuple[str, ...]:
    """The words of a table of words."""
    return tuple(text.split())
