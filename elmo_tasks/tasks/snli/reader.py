"""SNLI reader: pairs in the official JSON lines -> instances (paper, appendix A.3)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from sys import intern
from typing import Any, NamedTuple

from allennlp.data import DatasetReader, Field, Instance
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import LabelField, MetadataField

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_values import NOT_JSON, TEXT, json_problem, loaded, validate
from elmo_tasks.formats.tagged import unescape
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.nn.word_indexer import shared_token
from elmo_tasks.tasks.reader import TaskReader, text_field
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer

CORPUS_HINT = "SNLI 1.0 is at https://nlp.stanford.edu/projects/snli/"
LABELS = ("entailment", "neutral", "contradiction")
NO_CONSENSUS = "-"
"""The `gold_label` of pairs without a majority label; they are always dropped."""

# The keys of the two sentences, for each tokenization.
_FIELDS = {
    "sentence": ("sentence1", "sentence2"),
    "parse": ("sentence1_binary_parse", "sentence2_binary_parse"),
}
_EXPECTED = "expected a JSON object with 'sentence1' and 'sentence2'"


class Pair(NamedTuple):
    """A line of a file: its number, the texts of premise and hypothesis, the gold label if it has one."""

    line: int
    texts: tuple[str, str]
    label: str | None


@DatasetReader.register("elmo_tasks_snli")
class SnliReader(TaskReader):
    """
    Reads `snli_1.0_*.jsonl`, plain or gzip, one line at a time. Pairs labelled `-` are dropped. A file without any
    `gold_label` is read for predictions.

    # Parameters

    - `tokenization`: `sentence` (spaCy's rules for English on the raw sentences, as at prediction) or `parse` (the
      leaves of the binary parses in the official files).
    - `kwargs`: see `TaskReader`.

    Raises `InputError` if `tokenization` is unknown.
    """

    def __init__(self, *, tokenization: str = "sentence", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if tokenization not in _FIELDS:
            raise InputError(f"expected tokenization to be one of {', '.join(_FIELDS)}, got {tokenization!r}")
        self._fields = _FIELDS[tokenization]
        self._tokenizer = BlankSpacyTokenizer() if tokenization == "sentence" else None

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """Raises `InputError` with file and line, if a line is invalid, and if there is no labelled pair."""
        file = str(file_path)
        for pair in self.shard_iterable(_pairs(file, self._fields)):
            try:
                premise, hypothesis = (self._words(text) for text in pair.texts)
            except ValueError as error:
                raise InputError(str(error), file=file, line=pair.line) from None
            yield self.text_to_instance(premise, hypothesis, pair.label, file=file, line=pair.line)

    def text_to_instance(
        self,
        premise: Sequence[str],
        hypothesis: Sequence[str],
        label: str | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
    ) -> Instance:
        """
        An instance with the fields `premise`, `hypothesis`, `label` (if given: `entailment`, `neutral` or
        `contradiction`), and `metadata`, a dictionary of `premise`, `hypothesis` (words), `label`, and `file` and
        `line` of the pair, None where unknown. Raises `InputError` if a sentence is empty.
        """
        sentences = {"premise": list(map(intern, premise)), "hypothesis": list(map(intern, hypothesis))}
        metadata = {**sentences, "label": label, "file": file, "line": line}
        fields: dict[str, Field] = {"metadata": MetadataField(metadata)}
        for name, words in sentences.items():
            fields[name] = text_field(list(map(shared_token, words)), name, file=file, line=line)
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)

    def _words(self, text: str) -> list[str]:
        if self._tokenizer is None:
            return leaves(text)
        return [token.ensure_text() for token in self._tokenizer.tokenize(text)]


def leaves(parse: str) -> list[str]:
    """
    The words of a binary parse, such as `( ( A dog ) barks )`, with -LRB- and -RRB- unescaped. Raises `ValueError` if
    the text is not one tree, or a bracket is part of a word.
    """
    symbols = parse.split()
    depths = list(accumulate({"(": 1, ")": -1}.get(symbol, 0) for symbol in symbols))
    if depths and (min(depths) < 0 or depths[-1]):
        raise ValueError(f"the brackets of the parse do not match: {shown(parse)}")
    words = [symbol for symbol in symbols if symbol not in ("(", ")")]
    if any("(" in word or ")" in word for word in words):
        raise ValueError(f"expected spaces around each bracket of the parse, got {shown(parse)}")
    if 0 in depths[:-1]:
        raise ValueError(f"expected one tree in brackets, got {shown(parse)}")
    return [unescape(word) for word in words]


def _pairs(file: str, fields: tuple[str, str]) -> Iterator[Pair]:
    """The labelled pairs of a file, or all pairs of a file without labels."""
    labelled, kept = None, False
    for line, text in open_text(file, corpus_hint=CORPUS_HINT):
        if not text.strip():
            continue
        record = _record(text, file, line)
        label = _label(record, file, line)
        if labelled is None:
            labelled = label is not None
        if labelled != (label is not None):
            problem = f"expected {'a' if labelled else 'no'} 'gold_label', as in the lines before, got {shown(label)}"
            raise InputError(problem, file=file, line=line, hint="label all pairs, or none")
        if label != NO_CONSENSUS:
            kept = True
            first, second = (_text(record, field, file, line) for field in fields)
            yield Pair(line, (first, second), label)
    if labelled is None:
        raise InputError("expected a JSON object per line, got an empty file", file=file)
    if not kept:
        raise InputError(f"no pair has a gold label: all are {NO_CONSENSUS!r}", file=file)


def _record(text: str, file: str, line: int) -> dict[str, Any]:
    try:
        record = loaded(text)
    except NOT_JSON as error:
        raise InputError(f"{_EXPECTED}, got invalid JSON: {json_problem(error)}", file=file, line=line) from None
    if not isinstance(record, dict):
        raise InputError(f"{_EXPECTED}, got {shown(record)}", file=file, line=line)
    return record


def _label(record: dict[str, Any], file: str, line: int) -> str | None:
    label = record.get("gold_label")
    if label is None or label in (*LABELS, NO_CONSENSUS):
        return label
    labels = ", ".join((*LABELS, NO_CONSENSUS))
    raise InputError(f"expected one of {labels} as 'gold_label', got {shown(label)}", file=file, line=line)


def _text(record: dict[str, Any], field: str, file: str, line: int) -> str:
    if field not in record:
        hint = "tokenization: sentence needs no parses" if field in _FIELDS["parse"] else None
        raise InputError(f"expected the key {field!r}, got {shown(sorted(record))}", file=file, line=line, hint=hint)
    return validate(TEXT, record[field], repr(field), file=file, line=line)
