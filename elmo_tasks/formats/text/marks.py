"""
Typographic marks, as word processors and web pages write them, for a model whose
vocabulary has only plain ones: `’` is read as `'`.

A model has never seen the marks that its vocabulary lacks, so that their characters
disturb the words around them, too. Marks that the vocabulary has stay. An accent that
follows its letter becomes one character with it, unless the vocabulary has such accents.
"""

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

logger = logging.getLogger(__name__)


_PLAIN = {
    "’‚‛′´ʼ‹›＇\x82\x8b\x92\x9b": ("'",),
    "‘\x91": ("'", "`"),
    "“„‟«＂\x84\x93": ('"', "``"),
    "”″»\x94": ('"', "''"),
    "‐‑‒–−﹣－\x96": ("-", "--"),
    "—―﹘\x97": ("--", "-"),
    "…\x85": ("...",),
    "ﬀ": ("ff",),
    "ﬁ": ("fi",),
    "ﬂ": ("fl",),
    "ﬃ": ("ffi",),
    "ﬄ": ("ffl",),
    "\u00ad\u200b\u200e\u200f\u2060\ufeff": ("",),
}
"""
Marks, and the plain ones that a vocabulary may have in their place. A tokenizer reads
the first of these, a model the first that its vocabulary has. The control characters
are Windows' marks in a text that was converted as if it were Latin-1. Invisible
characters, such as a soft hyphen, are removed.
"""

_DASH_BETWEEN_BLANKS = re.compile(r"(?<!\S)[–\x96](?!\S)")


class Marks:
    """The typographic marks that the words of a vocabulary lack."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        known = set(words)
        characters = set().union(*known)
        is_composed = not any(map(unicodedata.combining, characters))
        self._composes = bool(characters) and is_composed
        # What the model and what a tokenizer reads, as `str.translate` takes it.
        self._read: dict[int, str] = {}
        self._split: dict[int, str] = {}
        for marks, forms in _PLAIN.items():
            form = _known_form(forms, known, characters)
            if characters and form is not None:
                for mark in set(marks) - characters:
                    self._read[ord(mark)] = form
                    if form == forms[0]:  # a tokenizer knows no other
                        self._split[ord(mark)] = form

    def plain(self, word: str) -> str:
        """A word as the model reads it; one without visible characters stays."""
        return self._composed(word).translate(self._read) or word

    def plain_text(self, text: str) -> str:
        """A text as a tokenizer reads it, before it is split into words."""
        return self._composed(text).translate(self._split)

    def with_dashes(self, text: str) -> str:
        """An en dash between blanks, as word processors write it, is a dash."""
        if ord("–") not in self._read:
            return text
        return _DASH_BETWEEN_BLANKS.sub("—", text)

    def in_text(self, text: str) -> list[str]:
        """The marks of a text that the vocabulary lacks."""
        if not self._read or text.isascii():
            return []
        accents = Counter(filter(unicodedata.combining, text))
        accents -= Counter(filter(unicodedata.combining, self._composed(text)))
        marks = [character for character in text if ord(character) in self._read]
        return [*marks, *accents.elements()]

    def _composed(self, text: str) -> str:
        if not self._composes or not any(map(unicodedata.combining, text)):
            return text
        return unicodedata.normalize("NFC", text)


def _known_form(
    forms: Sequence[str], words: set[str], characters: set[str]
) -> str | None:
    """The first form that is a word, else the first whose characters are known."""
    for form in forms:
        if form in words:
            return form
    for form in forms:
        if characters.issuperset(form):
            return form
    return None


class Folding:
    """
    Reads the sentences of a user for a model, and says once, after a text, how many
    marks it has read as plain ones: `found`.
    """

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.found: Counter[str] = Counter()
        self._texts = 0  # that are being read
        self._has_said = False

    def __call__(self, words: Sequence[str]) -> list[str]:
        """The words of a sentence as the model reads them."""
        for word in words:
            self.found.update(self.marks.in_text(word))
        return [self.marks.plain(word) for word in words]

    def plain_text(self, text: str) -> str:
        """As `Marks.plain_text`, with dashes."""
        text = self.marks.with_dashes(text)
        plain = self.marks.plain_text(text)
        marks = Counter(self.marks.in_text(text))
        self.found += marks - Counter(self.marks.in_text(plain))
        return plain

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While a text is read, or several; at the end of the last one it says so."""
        self._texts += 1
        try:
            yield
        finally:
            self._texts -= 1
            if not self._texts:
                self._say()

    def _say(self) -> None:
        if self._has_said or not self.found.total():
            return
        self._has_said = True
        listed = []
        for mark, count in self.found.most_common():
            name = mark if mark.isprintable() else f"U+{ord(mark):04X}"
            plain = self.marks.plain(mark)
            if plain == mark:
                plain = "nothing"
            if unicodedata.combining(mark):
                name = f"U+{ord(mark):04X}"
                plain = "one character with its letter"
            listed.append(f"{name} as {plain} ({count:,})")
        logger.warning(
            "read %s typographic marks as plain ones, which the vocabulary has: %s",
            f"{self.found.total():,}",
            ", ".join(listed),
        )
