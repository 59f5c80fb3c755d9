"""Official SQuAD JSON -> instances with token spans (paper, appendix A.4)."""

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Optional

from allennlp.data import DatasetReader, Field, Instance, Token, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import IndexField, MetadataField, TextField
from allennlp.data.tokenizers import Tokenizer

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.reader import TaskReader
from elmo_tasks.tasks.squad.official import GoldAnswer, Question, read_questions
from elmo_tasks.tasks.squad.tokenization import SquadTokenizer
from elmo_tasks.tasks.tokenizer import FirstCharacters, offsets_of

logger = logging.getLogger(__name__)

NO_SPAN = -1
"""Start and end of an answer that does not align with tokens of the passage."""

_WARN_ABOVE = 0.01
"""The share of answers not found in their paragraphs above which there is a warning."""


class Passage(TextField):
    """The tokens of a passage and their `offsets`, which all its questions share, and which are indexed once."""

    __slots__ = ["offsets"]

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.offsets = offsets_of(tokens)

    def index(self, vocab: Vocabulary) -> None:
        if self._indexed_tokens is None:
            super().index(vocab)


@DatasetReader.register("elmo_tasks_squad")
class SquadReader(TaskReader):
    """
    Reads files in the format of SQuAD v1.1, plain or gzip; each question is an instance with its whole paragraph.

    The gold span is the first gold answer that aligns with tokens. A question without one is ignored by the loss and
    scored like any other, by the texts of all gold answers. The reader warns if there are many.

    # Parameters

    - `tokenizer`: its tokens must have offsets; by default `SquadTokenizer`.
    - `kwargs`: see `TaskReader`.
    """

    characters = FirstCharacters(limit=14)  # as in Clark and Gardner (2017)

    def __init__(self, *, tokenizer: Optional[Tokenizer] = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._tokenizer = tokenizer or SquadTokenizer()

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        Raises `InputError` as `read_questions` does; for a question without an answer; if no answer is found in its
        paragraph.
        """
        file, read, lost = str(file_path), 0, 0
        questions = self.shard_iterable(_answerable(read_questions(file), file))
        for context, asked in groupby(questions, key=lambda question: question.context):
            passage = Passage(self._tokenizer.tokenize(context))
            for one in asked:
                instance = self.text_to_instance(
                    one.text, context, one.answers, id=one.id, passage_field=passage, where=one.where
                )
                read, lost = read + 1, lost + (instance.fields["span_start"].sequence_index == NO_SPAN)
                yield instance
        if read == lost > 0:
            problem = "expected each answer in its paragraph at answer_start, got none there"
            hint = "answer_start counts the characters before the answer in the paragraph, not its bytes"
            raise InputError(problem, file=file, hint=hint)
        if lost > _WARN_ABOVE * read:
            text = "%s: %d of %d questions have no answer at its place in their paragraph, and are not trained on"
            logger.warning(text, file, lost, read)

    def text_to_instance(
        self,
        question: str,
        passage: str,
        answers: Sequence[GoldAnswer] | None = None,
        *,
        id: str | None = None,
        passage_field: Passage | None = None,
        where: str | None = None,
    ) -> Instance:
        """
        An instance with the fields `passage` (T tokens), `question`, `metadata` and, if there are answers, `span_start`
        and `span_end`: the first and last token of the answer, both `NO_SPAN` if it does not align. The metadata is a
        dictionary of `id`, `passage` and `question` (raw texts), `offsets` (see `offsets_of`), `answers` (the gold
        texts, or None) and `where`: article, paragraph and question, for error messages. `passage_field` has the
        passage's tokens, by default they are computed.

        Raises `InputError` if one of the texts has no token, or tokens have no offsets.
        """
        text = passage_field or Passage(self._tokenizer.tokenize(passage))
        asked = self._tokenizer.tokenize(question)
        for name, found in (("passage", text.tokens), ("question", asked)):
            if not found:
                raise InputError(f"{where or 'the input'}: expected a word in the {name}, got none")
        golds = None if answers is None else [answer.text for answer in answers]
        metadata: dict[str, Any] = {"id": id, "passage": passage, "question": question, "answers": golds}
        metadata |= {"offsets": text.offsets, "where": where}
        fields: dict[str, Field] = {"passage": text, "question": TextField(asked), "metadata": MetadataField(metadata)}
        if answers is not None:
            spans = (align(answer, passage, text.offsets) for answer in answers)
            start, end = next(filter(None, spans), (NO_SPAN, NO_SPAN))
            fields |= {"span_start": IndexField(start, text), "span_end": IndexField(end, text)}
        return Instance(fields)


def align(answer: GoldAnswer, passage: str, offsets: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """
    The first and last token that overlap the answer, for the passage's offsets (see `offsets_of`); None if its text is
    not at its position in the passage, or no token is.
    """
    end = answer.start + len(answer.text)
    if answer.start < 0 or passage[answer.start : end] != answer.text:
        return None
    first = bisect_right(offsets, answer.start, key=lambda offset: offset[1])
    last = bisect_left(offsets, end, key=lambda offset: offset[0]) - 1
    return (first, last) if first <= last else None


def _answerable(questions: Iterable[Question], file: str) -> Iterator[Question]:
    for question in questions:
        if not question.answers:
            hint = "the model always answers: use a file of SQuAD v1.1"
            raise InputError(f"{question.where}: expected an answer, got none", file=file, hint=hint)
        yield question
