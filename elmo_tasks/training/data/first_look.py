"""
A first look at a corpus, while it is read: whether its words are words, and not another
column or what stands in the place of words that were removed.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Protocol, runtime_checkable

from allennlp.data import Field, Instance
from allennlp.data.fields import ListField, TextField

from elmo_tasks.errors import InputError

_LOOKED_AT = 5000
"""Words that are looked at; files may begin with a long table of numbers."""

_NEARLY_ALL = 0.9
_FEWEST_STEPS, _FEWEST_ALIKE = 5, 10
"""Of words that count on, and of equal ones; fewer may be chance."""
_FEWEST_NUMBERS, _FEWEST_OF_NUMBERS = 100, 20
"""Words and texts without letters; fewer may be a small table."""

_COUNTED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)
_NUMBER = re.compile(r"[\d!-/:-@\[-`{-~]+")
"""Digits and punctuation of ASCII."""


@runtime_checkable
class ReaderOfWords(Protocol):
    """A dataset reader whose corpus is looked at."""

    @property
    def words_hint(self) -> str:
        """What to do if there are no words."""


def looked_at(
    instances: Iterable[Instance], reader: ReaderOfWords, file: str
) -> Iterator[Instance]:
    """
    The same instances, of a file. Raises `InputError` after the first ones, if their
    texts have no words.
    """
    rest = iter(instances)
    texts: list[list[str]] = []
    count = 0
    for instance in rest:
        yield instance
        for field in text_fields(instance):
            texts.append([token.ensure_text() for token in field.tokens])
            count += len(field.tokens)
        if count >= _LOOKED_AT:
            break
    found = instead_of_words(texts)
    if found is not None:
        problem = f"expected words, got {found}"
        raise InputError(problem, file=file, hint=reader.words_hint)
    yield from rest


def text_fields(instance: Instance) -> Iterator[TextField]:
    """The text fields of an instance, also those in lists."""
    for field in instance.fields.values():
        parts: Iterable[Field] = [field]
        if isinstance(field, ListField):
            parts = field
        for part in parts:
            if isinstance(part, TextField):
                yield part


def instead_of_words(texts: Sequence[Sequence[str]]) -> str | None:
    """
    What texts have in place of words: numbers that count, in all or in each of them;
    one and the same word in all, or in each; or nothing with letters. `None` if they
    have words, or are too few to tell.
    """
    if len(texts) < 2:
        return None
    examples = ", ".join([repr(word[:20]) for word in max(texts[:10], key=len)[:4]])
    counts = Counter(chain.from_iterable(texts))
    usual = dict(counts.most_common(1))
    plain = {word for word in counts if not _is_punctuation(word)}
    # Where words were removed, punctuation may have stayed, or may stand for them.
    for words in (plain, plain.union(usual)):
        found = _one_after_another([[w for w in text if w in words] for text in texts])
        if found is not None:
            return f"{found}: {examples}"
    numbers = sum(counts[word] for word in counts if _NUMBER.fullmatch(word))
    least = max(_FEWEST_NUMBERS, _NEARLY_ALL * counts.total())
    if len(texts) >= _FEWEST_OF_NUMBERS and numbers >= least:
        return f"numbers and punctuation: {examples}"
    return None


def _one_after_another(texts: Sequence[Sequence[str]]) -> str | None:
    """What texts are if nearly all of their words follow from the words before them."""
    words = list(chain.from_iterable(texts))
    neighbours = list(chain.from_iterable(map(pairwise, texts)))
    # Among texts of single words, the neighbours of a few others say nothing.
    least = max(_NEARLY_ALL * len(neighbours), len(words) / 3)
    steps = sum(_follows(*pair) for pair in neighbours)
    if steps >= max(_FEWEST_STEPS, least):
        return "numbers that count"
    alike = sum(first == second for first, second in neighbours)
    most = max(Counter(words).values(), default=0)
    if alike >= max(_FEWEST_ALIKE, least):
        return "one word again and again"
    if most >= max(_FEWEST_ALIKE, _NEARLY_ALL * len(words)):
        return "one word again and again"
    return None


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(one).startswith("P") for one in word)


def _follows(first: str, second: str) -> bool:
    """Whether two words end in numbers, the second in the next one: `1-9`, `1-10`."""
    if not second[-1:].isdigit():  # which nearly all words are
        return False
    one, two = _COUNTED.fullmatch(first), _COUNTED.fullmatch(second)
    if one is None or two is None:
        return False
    return one[1] == two[1] and int(one[2]) + 1 == int(two[2])
