"""SNLI reader: pairs in the official JSON lines -> instances (paper, appendix A.3)."""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, Literal, Optional, get_args

from allennlp.data import DatasetReader, Field, Instance
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import LabelField, MetadataField
from overrides import overrides
from pydantic import TypeAdapter

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.trees import unescape
from elmo_tasks.formats.json_files import parse_json
from elmo_tasks.formats.text.text_files import not_empty, open_text
from elmo_tasks.nn.indexers import shared_token
from elmo_tasks.settings import Text, checked, validated
from elmo_tasks.tasks.reader import (
    BlankSpacyTokenizer,
    TaskReader,
    is_unsplit,
    text_field,
)

logger = logging.getLogger(__name__)

CORPUS_HINT = "SNLI 1.0 is at https://nlp.stanford.edu/projects/snli/"
Label = Literal["entailment", "neutral", "contradiction"]
LABELS = get_args(Label)
NO_CONSENSUS = "-"
"""The `gold_label` of pairs without a majority label; they are always dropped."""

# The keys of the two sentences, for each tokenization.
_FIELDS = {
    "sentence": ("sentence1", "sentence2"),
    "parse": ("sentence1_binary_parse", "sentence2_binary_parse"),
}
_TEXT = TypeAdapter(Text)
_RECORD = TypeAdapter(dict[str, Any])
_LABEL: TypeAdapter[Any] = TypeAdapter(Optional[Literal[Label, "-"]])


@DatasetReader.register("elmo_tasks_snli")
class SnliReader(TaskReader):
    """
    Reads `snli_1.0_*.jsonl`, plain or gzip, one line at a time. Pairs labelled `-` are
    dropped; for predictions, a file needs no `gold_label` in any pair.

    # Parameters

    - `tokenization`: where words come from: spaCy's rules for the language on the raw
      sentences, as in predictions (`sentence`), or the leaves of the binary parses in
      the official files (`parse`).
    - `language`: the code of these rules, such as `zh`.
    - `kwargs`: see `TaskReader`.
    """

    @checked
    def __init__(
        self,
        *,
        tokenization: Literal["sentence", "parse"] = "sentence",
        language: str = "en",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.language = language
        self._fields = _FIELDS[tokenization]
        self._words: Callable[[str], list[str]] = leaves
        if tokenization == "sentence":
            self._words = BlankSpacyTokenizer(language).words

    @overrides
    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        Raises `InputError` with file and line, if a line is invalid, and if there is no
        pair.
        """
        file = str(file_path)
        pairs = not_empty(
            _pairs(file),
            f"expected pairs, got none, or all are labelled {NO_CONSENSUS!r}",
            file,
        )
        read = 0
        unsplit: list[int] = []  # their lines
        for line, pair in self.shard_iterable(pairs):
            sentences = []
            for field in self._fields:
                value = pair.get(field)
                text = validated(_TEXT, value, repr(field), file=file, line=line)
                sentences.append(self._words(text))
            premise, hypothesis = sentences
            read += 1
            if any(map(is_unsplit, premise + hypothesis)):
                unsplit.append(line)
            yield self.text_to_instance(
                premise, hypothesis, pair.get("gold_label"), file=file, line=line
            )
        if unsplit:
            text = (
                "%s: %d of %d pairs, such as that of line %d, have clauses that are not"
                " split into words; the reader splits texts by the rules for language %r"
            )
            logger.warning(text, file, len(unsplit), read, unsplit[0], self.language)

    def unit_of(self, instance: Instance) -> Hashable:
        """The premise, which several pairs have."""
        return tuple(instance["metadata"]["premise"])

    @overrides(check_signature=False)
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
        An instance with the fields `premise`, `hypothesis`, `label` (if given:
        `entailment`, `neutral` or `contradiction`), and `metadata`, a dictionary of
        `premise`, `hypothesis` (words), `label`, and `file` and `line` of the pair,
        None where unknown. Raises `InputError` if a sentence is empty.
        """
        sentences = {
            "premise": list(map(intern, premise)),
            "hypothesis": list(map(intern, hypothesis)),
        }
        metadata = {**sentences, "label": label, "file": file, "line": line}
        fields: dict[str, Field] = {"metadata": MetadataField(metadata)}
        for name, words in sentences.items():
            fields[name] = text_field(
                list(map(shared_token, words)), name, file=file, line=line
            )
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)


def leaves(parse: str) -> list[str]:
    """
    The words of a binary parse, such as `( ( A dog ) barks )`, with -LRB- and -RRB-
    unescaped. Words may contain no-break spaces.
    """
    symbols = parse.replace("\t", " ").split(" ")
    return [unescape(symbol) for symbol in symbols if symbol not in ("", "(", ")")]


def _pairs(file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """
    The pairs of a file but those without consensus, and their lines. Raises
    `InputError` if only some have a label.
    """
    first: tuple[int, bool] | None = None  # a pair's line, and whether it has a label
    for line, text in open_text(file, corpus_hint=CORPUS_HINT):
        if not text.strip():
            continue
        record = parse_json(text, file=file, line=line)
        pair = validated(_RECORD, record, "the pair", file=file, line=line)
        given = pair.get("gold_label")
        label = validated(_LABEL, given, "'gold_label'", file=file, line=line)
        has_label = label is not None
        if first is None:
            first = (line, has_label)
        first_line, first_has_label = first
        if has_label != first_has_label:
            problem = f"expected no 'gold_label' as on line {first_line}, got one"
            if first_has_label:
                problem = f"expected a 'gold_label' as on line {first_line}, got none"
            hint = "label all pairs of a file or none"
            raise InputError(problem, file=file, line=line, hint=hint)
        if label != NO_CONSENSUS:
            yield line, pair
