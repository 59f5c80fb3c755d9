"""Escapes of treebanks."""

_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def unescape(word: str) -> str:
    """The text of a treebank's word: brackets, and slashes and asterisks without their backslash."""
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")
