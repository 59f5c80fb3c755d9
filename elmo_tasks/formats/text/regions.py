"""
Regions of a sentence, as those of a self-paced reading experiment. The sentence is
split into words as a whole, and each word belongs to the region in which it stands.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import Split

Plain = Callable[[str], str]


def words_of_regions(
    text: str | Sequence[str], mark: str, split: Split, plain: Plain = str
) -> tuple[list[str], list[int]]:
    """
    The words of a sentence, and the number of each word's region, counted from 1.

    `mark` separates regions in a text; a blank separates them at blanks, tabs and line
    breaks, but not at a no-break space. A list of regions needs no mark. A blank stands
    between two regions. Empty regions count, and have no words. `plain` changes a
    region before it is split.

    Raises `InputError` if the tokenizer `split` changes words, or a word is in two
    regions.
    """
    if not isinstance(text, str):
        regions = list(text)
    elif mark == " ":
        regions = re.findall(r"[^ \t\r\n]+", text)
    else:
        regions = text.split(mark)
    regions = [plain(" ".join(region.split())) for region in regions]
    sentence = " ".join(regions)
    ends = []
    end = -1
    for region in regions:
        end += 1 + len(region)
        ends.append(end)
    words = []
    numbers = []
    place = 0
    for word in split(sentence):
        start = sentence.find(word, place)
        if start < 0:
            raise InputError(f"expected words of the text, got {word!r}")
        place = start + len(word)
        index = bisect_right(ends, start)
        if place > ends[index]:
            raise InputError(f"expected words inside of a region, got {word!r}")
        words.append(word)
        numbers.append(index + 1)
    return words, numbers
