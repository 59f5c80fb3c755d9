"""The entity types of a file's tags, and whether they look like chunks or parts of speech."""

from collections import Counter
from collections.abc import Mapping, Set
from typing import NamedTuple

from elmo_tasks.data.columns import read_columns
from elmo_tasks.data.spans import spans_from_tags
from elmo_tasks.ner.reader import TAG_COLUMNS

CHUNKS = "ADJP ADVP CONJP INTJ LST NP PP PRT SBAR UCP VP"
PARTS_OF_SPEECH = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ"
    " WDT WP WP$ WRB . , : `` '' -LRB- -RRB- # $ ( )"
    " ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB X"
)
"""Of the Penn Treebank and Universal Dependencies."""


class TypeCounts(NamedTuple):
    """The counts of each type in a file, and the column of its tags, counted from 1."""

    file: str
    column: int
    counts: Counter[str]

    def __str__(self) -> str:
        return f"{', '.join(sorted(self.counts)) or 'none'} (column {self.column} of {self.file})"


def count_types(file: str, *, tag_label: str) -> TypeCounts:
    """
    # Raises

    `InputError` or `ValueError`
        If the file cannot be read, or a tag is invalid.
    """
    counts: Counter[str] = Counter()
    column, width = TAG_COLUMNS[tag_label], 1
    for sentence in read_columns(file, min_columns=column + 1):
        counts.update(span.label for span in spans_from_tags(sentence.columns[column]))
        width = len(sentence.columns)
    return TypeCounts(file, column % width + 1, counts)


def other_annotation(types: Set[str]) -> str | None:
    """`chunks` or `parts of speech` if all types are names of these, including common ones; None otherwise."""
    if types <= set(CHUNKS.split()) and types & {"NP", "VP"}:
        return "chunks"
    if types <= set(PARTS_OF_SPEECH.split()) and types & {"NN", "NNP", "NOUN", "PROPN"}:
        return "parts of speech"
    return None


def unknown_types(counts: Mapping[str, int], known: Set[str]) -> str:
    """The unknown types with their counts, such as `LOC 3, PER 5`."""
    return ", ".join(f"{label} {count}" for label, count in sorted(counts.items()) if label not in known)
