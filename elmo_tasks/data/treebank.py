"""How treebanks write words that have a meaning in their format."""

_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def unescape(word: str) -> str:
    """A word of a treebank as text has it: brackets, and slashes and asterisks without their backslash."""
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")
