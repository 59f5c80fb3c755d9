"""
Typographic marks, as word processors and web pages write them, for a model whose
vocabulary has only plain ones: `’` is read as `'`.

A model has never seen the marks that its vocabulary lacks, so that their characters
disturb the words around them, too. Marks that the vocabulary has stay.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from elmo_tasks.formats.text.raw_text import Split, end_of_text

logger = logging.getLogger(__name__)


_PLAIN = {
    "’‚‛′´ʼ‹›＇": ("'",),
    "‘": ("'", "`"),
    "“„‟«＂": ('"', "``"),
    "”″»": ('"', "''"),
    "‐‑‒–−﹣－": ("-", "--"),
    "—―﹘": ("--", "-"),
    "…": ("...",),
}
"""
Marks, and the plain ones that a vocabulary may have in their place. A tokenizer reads
the first of these, a model the first that its vocabulary has.
"""


class Placed(NamedTuple):
    """
    A word of a text, and the offsets in the text of the first character that it has a
    part of, and behind the last one; -1 for a word that is not in the text.
    """

    word: str
    start: int
    end: int


class Marks:
    """The typographic marks that the words of a vocabulary lack."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        known = set(words)
        characters = set().union(*known)
        # What the model and what a tokenizer reads, as `str.translate` takes it.
        self._read: dict[int, str] = {}
        self._split: dict[int, str] = {}
        for marks, forms in _PLAIN.items():
            form = _known_form(forms, known, characters)
            if form is None:
                continue
            for mark in set(marks) - characters:
                self._read[ord(mark)] = form
                self._split[ord(mark)] = forms[0]

    def readings(self) -> dict[str, str]:
        """Each of these marks, and what is read in its place."""
        return {chr(code): plain for code, plain in sorted(self._read.items())}

    def plain(self, text: str) -> str:
        """A text or a word as the model reads it."""
        return text.translate(self._read)

    def plain_words(self, words: Sequence[str]) -> list[str]:
        return [self.plain(word) for word in words]

    def in_text(self, text: str) -> list[str]:
        """The marks of a text that the vocabulary lacks."""
        if not self._read or text.isascii():
            return []
        return [character for character in text if ord(character) in self._read]

    def placed(self, text: str, split: Split) -> list[Placed]:
        """
        The words of a text by a tokenizer that reads plain marks, as the text spells
        them. A word that has a part of a mark, such as `etc.` of `etc…`, and one that is
        not in the text are as the tokenizer spells them.
        """
        spelled = [character.translate(self._split) for character in text]
        plain = "".join(spelled)
        owners = []  # of each plain character, and of the end
        for offset, characters in enumerate(spelled):
            owners += [offset] * len(characters)
        owners.append(len(text))
        found = []
        end = 0
        for word in split(plain):
            start = plain.find(word, end)
            if start < 0:
                found.append(Placed(word, -1, -1))
                continue
            end = start + len(word)
            first = last = owners[start]
            if word:
                last = owners[end - 1] + 1
            own = text[first:last]
            if own.translate(self._split) == word:
                word = own
            found.append(Placed(word, first, last))
        return found


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
        self.found.update(self.marks.in_text("".join(words)))
        return self.marks.plain_words(words)

    def placed(self, text: str, split: Split) -> list[Placed]:
        """As `Marks.placed`. The marks that are in no word of the result count here."""
        found = self.marks.placed(text, split)
        self.found.update(self.marks.in_text(text))
        self.found.subtract(self.marks.in_text("".join([one.word for one in found])))
        return found

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
            listed.append(f"{mark} as {self.marks.plain(mark)} ({count:,})")
        logger.warning(
            "read %s typographic marks as plain ones, which the vocabulary has: %s",
            f"{self.found.total():,}",
            ", ".join(listed),
        )


class FoldedSplit:
    """A tokenizer for texts that `folding` reads, see `Marks.placed`."""

    def __init__(self, split: Split, folding: Folding) -> None:
        self._split = split
        self._folding = folding

    def __call__(self, text: str) -> list[str]:
        return [one.word for one in self.placed(text)]

    def placed(self, text: str) -> list[Placed]:
        return self._folding.placed(text, self._split)

    def end_of_text(self) -> None:
        end_of_text(self._split)
