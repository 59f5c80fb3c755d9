"""
Official SQuAD JSON -> instances with token spans (paper, appendix A.4).

Words are also split at dashes, slashes, quotation marks, currency signs and the like, so
that an answer rarely ends inside a token, after Clark and Gardner (2017), on whose model
appendix A.4 builds. Their code also splits contractions at the apostrophe (`n ' t`);
here they stay whole, because word vectors have them.
"""

import logging
import re
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from allennlp.data import DatasetReader, Field, Instance, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import IndexField, MetadataField, TextField
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_tasks.errors import InputError, shown
from elmo_tasks.settings import checked
from elmo_tasks.tasks.reader import (
    BlankSpacyTokenizer,
    FirstCharacters,
    TaskReader,
    offsets_of,
    text_field,
)
from elmo_tasks.tasks.squad.official import GoldAnswer, read_questions

_CONTRACTION = re.compile(r"n['’]t|['’](?:s|d|m|ll|re|ve)", re.IGNORECASE)
_SPLIT = re.compile(r"((?<=[^_])_(?=[^_])|[-£€¥¢₹\u2212\u2014\u2013/~\"'’”‘°])")
_REPLACED = {"\u2212": "-", "\u2014": "\u2013"}


@Tokenizer.register("elmo_tasks_squad")
class SquadTokenizer(Tokenizer):
    """
    spaCy's rules for a `language`, and splits around `- £ € ¥ ¢ ₹ − — – / ~ " ' ’ ” ‘ °` and
    inside `a_b`; contractions such as `'s` and `n't` are one token. A minus sign is
    replaced by a hyphen, an em dash by an en dash; offsets refer to the original text:
    `text[token.idx : token.idx_end]`.

    # Parameters

    - `language`: spaCy's code of the language, such as `en`.
    """

    @checked
    def __init__(self, language: str = "en") -> None:
        self._words = BlankSpacyTokenizer(language)

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        """The tokens of `text`; none for white space."""
        tokens: list[Token] = []
        for word in self._words.tokenize(text):
            tokens.extend(_parts(word))
        return tokens


def _parts(word: Token) -> Iterator[Token]:
    text = word.ensure_text()
    offset = word.idx
    if _CONTRACTION.fullmatch(text):
        yield word
        return
    for part in filter(None, _SPLIT.split(text)):
        yield Token(_REPLACED.get(part, part), idx=offset, idx_end=offset + len(part))
        offset += len(part)


logger = logging.getLogger(__name__)

NO_SPAN = -1
"""Start and end of an answer that does not align with tokens of the passage."""


class Passage(TextField):
    """
    The tokens of a passage and their `offsets`, which all its questions share, and
    which are indexed once.
    """

    __slots__ = ["offsets"]

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.offsets = offsets_of(tokens)

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        if self._indexed_tokens is None:
            super().index(vocab)


@DatasetReader.register("elmo_tasks_squad")
class SquadReader(TaskReader):
    """
    Reads files in the format of SQuAD v1.1, plain or gzip; each question is an instance
    with its whole paragraph.

    The gold span is the first gold answer that aligns with tokens. A question without
    one is ignored by the loss and scored like any other, by the texts of all gold
    answers; the reader logs how many there are, and how many have no gold answer that
    begins and ends with a token, so that no prediction equals one.

    # Parameters

    - `language`: the code of the spaCy rules that split the texts, such as `zh`.
    - `kwargs`: see `TaskReader`.
    """

    characters = FirstCharacters(limit=14)  # as in Clark and Gardner (2017)

    @checked
    def __init__(self, *, language: str = "en", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.language = language
        self._tokenizer = SquadTokenizer(language)

    @overrides
    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        Raises `InputError` as `read_questions` does, and for a question without an
        answer.
        """
        file = str(file_path)
        read = 0
        lost: list[str] = []  # the ids of the questions
        cut: list[str] = []
        waiting: list[Instance] = []  # until an answer is at its offset
        questions = self.shard_iterable(read_questions(file))
        for context, asked in groupby(questions, key=attrgetter("context")):
            passage = Passage(self._tokenizer.tokenize(context))
            for one in asked:
                if not one.answers:
                    hint = "the model always answers: use a file of SQuAD v1.1"
                    raise InputError(
                        f"question {shown(one.id)}: expected an answer, got none",
                        file=file,
                        hint=hint,
                    )
                instance = self.text_to_instance(
                    one.text,
                    context,
                    one.answers,
                    id=one.id,
                    unit=one.unit,
                    passage_field=passage,
                )
                read += 1
                if instance.fields["span_start"].sequence_index == NO_SPAN:
                    lost.append(one.id)
                elif not _has_whole_answer(one.answers, context, passage.offsets):
                    cut.append(one.id)
                waiting.append(instance)
                if len(lost) < read:
                    yield from waiting
                    waiting.clear()
        is_part = self.get_worker_info() or self.get_distributed_info()
        if lost and len(lost) == read and not is_part:
            problem = "expected answers at their offsets in the paragraphs, got none"
            hint = "answer_start counts characters from 0"
            raise InputError(f"{problem} of {read}", file=file, hint=hint)
        yield from waiting
        if lost:
            text = (
                "%s: %d of %d questions, such as %s, have no answer at its offset in their"
                " paragraph, and are not trained on"
            )
            logger.warning(text, file, len(lost), read, lost[0])
        if cut:
            text = (
                "%s: the answers of %d of %d questions, such as %s, begin or end inside a"
                " token, so that no prediction equals them; the reader splits texts by the"
                " rules for language %r"
            )
            logger.warning(text, file, len(cut), read, cut[0], self.language)

    def unit_of(self, instance: Instance) -> Hashable:
        """The article, or the paragraph in a file with a single article."""
        return instance["metadata"]["unit"]

    @overrides(check_signature=False)
    def text_to_instance(
        self,
        question: str,
        passage: str,
        answers: Sequence[GoldAnswer] | None = None,
        *,
        id: str | None = None,
        unit: int | None = None,
        passage_field: Passage | None = None,
    ) -> Instance:
        """
        An instance with the fields `passage` (T tokens), `question`, `metadata` and, if
        there are answers, `span_start` and `span_end`: the first and last token of the
        answer, both `NO_SPAN` if it does not align. The metadata is a dictionary of
        `id`, `unit` (see `Question`), `passage` and `question` (raw texts), `offsets`
        (see `offsets_of`) and `answers` (the gold texts, or None). `passage_field` has the passage's tokens,
        by default they are computed. Raises `InputError` if one of the texts has no
        token.
        """
        text = passage_field or Passage(self._tokenizer.tokenize(passage))
        asked = text_field(self._tokenizer.tokenize(question), "question")
        golds: list[str] | None = None
        if answers is not None:
            golds = [answer.text for answer in answers]
        metadata = {
            "id": id,
            "unit": unit,
            "passage": passage,
            "question": question,
            "answers": golds,
            "offsets": text.offsets,
        }
        fields: dict[str, Field] = {
            "passage": text,
            "question": asked,
            "metadata": MetadataField(metadata),
        }
        if answers is not None:
            start, end = _first_span(answers, passage, text.offsets)
            fields["span_start"] = IndexField(start, text)
            fields["span_end"] = IndexField(end, text)
        return Instance(fields)


def _first_span(
    answers: Sequence[GoldAnswer], passage: str, offsets: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """The tokens of the first answer that aligns, see `align`; else `NO_SPAN` twice."""
    for answer in answers:
        span = align(answer, passage, offsets)
        if span is not None:
            return span
    return NO_SPAN, NO_SPAN


def _has_whole_answer(
    answers: Sequence[GoldAnswer], passage: str, offsets: Sequence[tuple[int, int]]
) -> bool:
    """Whether one of the answers begins and ends with a token."""
    for answer in answers:
        span = align(answer, passage, offsets)
        if span is None:
            continue
        begin, _ = offsets[span[0]]
        _, end = offsets[span[1]]
        if answer.start <= begin and end <= answer.start + len(answer.text):
            return True
    return False


def align(
    answer: GoldAnswer, passage: str, offsets: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """
    The first and last token that overlap the answer, for the passage's offsets (see
    `offsets_of`); None if its text is not at its position in the passage, or no token
    is.
    """
    end = answer.start + len(answer.text)
    if answer.start < 0 or passage[answer.start : end] != answer.text:
        return None
    # The first token that ends after the answer's start, the last that begins before
    # its end.
    first = bisect_right(offsets, answer.start, key=itemgetter(1))
    last = bisect_left(offsets, end, key=itemgetter(0)) - 1
    if first > last:
        return None
    return first, last
