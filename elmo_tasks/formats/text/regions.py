"""
Regions of a sentence, as those of a self-paced reading experiment. The sentence is
split into words as a whole, and each word belongs to the region in which it stands.
"""

from bisect import bisect_right
from collections.abc import Sequence

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import FoldedSplit, Marks, Placed
from elmo_tasks.formats.text.raw_text import Split


def words_of_regions(
    text: str | Sequence[str], mark: str, split: Split
) -> tuple[list[str], list[int]]:
    """
    The words of a sentence, and the number of each word's region, counted from 1.

    `mark` separates regions in a text; a blank separates them at any white space. A
    list of regions needs no mark. A blank stands between two regions. Empty regions
    count, and have no words.

    Raises `InputError` if the tokenizer `split` changes words, or a word is in two
    regions.
    """
    if not isinstance(text, str):
        regions = list(text)
    elif mark == " ":
        regions = text.split()
    else:
        regions = text.split(mark)
    regions = [" ".join(region.split()) for region in regions]
    sentence = " ".join(regions)
    ends = []
    end = -1
    for region in regions:
        end += 1 + len(region)
        ends.append(end)
    words = []
    numbers = []
    for word, start, end in _placed(sentence, split):
        if start < 0:
            raise InputError(f"expected words of the text, got {word!r}")
        words.append(word)
        index = bisect_right(ends, start)
        if end > ends[index]:
            raise InputError(f"expected words inside of a region, got {word!r}")
        numbers.append(index + 1)
    return words, numbers


def _placed(sentence: str, split: Split) -> list[Placed]:
    if isinstance(split, FoldedSplit):
        return split.placed(sentence)
    return Marks().placed(sentence, split)
