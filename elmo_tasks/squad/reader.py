"""First step of SQuAD: official JSON to instances with token spans (paper, appendix A.4)."""

import logging
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from allennlp.data import DatasetReader, Field, Instance, Token, TokenIndexer
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import IndexField, MetadataField, TextField
from allennlp.data.token_indexers import TokenCharactersIndexer
from allennlp.data.tokenizers import Tokenizer

from elmo_tasks.data.tokenizer import FirstCharacters
from elmo_tasks.data.words import WordIndexer
from elmo_tasks.elmo.indexer import CharacterIndexer
from elmo_tasks.errors import InputError
from elmo_tasks.squad.official import Answer, Question, read_questions
from elmo_tasks.squad.tokenization import SquadTokenizer

logger = logging.getLogger(__name__)

NO_SPAN = -1
"""The start and the end of an answer that is not found among the passage's tokens."""

UNALIGNED_PERCENT = 1.0
"""With more answers than these not found in their paragraphs, the count is a warning."""

CHARACTERS_READ = 14
"""As many characters of a word reach the character CNN (Clark and Gardner 2017)."""


@DatasetReader.register("elmo_tasks_squad")
class SquadReader(DatasetReader):
    """
    Reads files in the format of SQuAD v1.1, plain or gzip; each question becomes an instance with its whole paragraph.

    Training and evaluation read alike. The model is trained towards the first gold answer that can be found among the
    tokens; a question where none can is passed over by the loss, and scored like any other, by the texts of all its
    gold answers. How many there are is logged.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`, optional
        By default `tokens` (word ids), `token_characters` (a word's first characters, for the character CNN) and
        `elmo` (the biLM's characters).
    tokenizer : `Tokenizer`, optional
        By default `SquadTokenizer`; its tokens must know their offset.
    drop_unanswerable : `bool`
        Whether questions without an answer, as v2.0 has them, are dropped and counted instead of refused: this model
        always gives an answer.
    """

    def __init__(
        self,
        *,
        token_indexers: dict[str, TokenIndexer] | None = None,
        tokenizer: Tokenizer | None = None,
        drop_unanswerable: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs)
        self._token_indexers = token_indexers or _default_indexers()
        self._tokenizer = tokenizer or SquadTokenizer()
        self._drop_unanswerable = drop_unanswerable

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        # Raises

        `InputError`
            With file, article, paragraph and question: for a question without an answer, unless they are dropped;
            whatever `read_questions` raises. If no answer at all is found in its paragraph.
        """
        file, counts = str(file_path), Counter[str]()
        questions = self.shard_iterable(self._answerable(read_questions(file), file, counts))
        for context, asked in groupby(questions, key=lambda question: question.context):
            passage = self._tokenizer.tokenize(context)
            for question in asked:
                instance = self.text_to_instance(
                    question.text,
                    context,
                    question.answers,
                    id=question.id,
                    passage_tokens=passage,
                    where=question.where,
                )
                counts.update(_kinds(instance, question.answers))
                yield instance
        _log_counts(file, counts)
        if counts["questions"] and counts["unaligned"] == counts["questions"]:
            hint = "answer_start counts the characters before the answer in the paragraph, not its bytes"
            raise InputError(
                "none of the answers stands in its paragraph where answer_start says", file=file, hint=hint
            )

    def _answerable(self, questions: Iterable[Question], file: str, counts: Counter[str]) -> Iterator[Question]:
        answered = False
        for question in questions:
            if question.answers:
                answered = True
                yield question
            elif self._drop_unanswerable:
                counts["dropped"] += 1
            else:
                hint = "take a file of SQuAD v1.1, or set drop_unanswerable of the dataset reader to true"
                raise InputError(f"{question.where}: a question without an answer", file=file, hint=hint)
        if not answered:
            raise InputError(f"no question has an answer: all {counts['dropped']} are dropped", file=file)

    def text_to_instance(
        self,
        question: str,
        passage: str,
        answers: Sequence[Answer] | None = None,
        *,
        id: str | None = None,
        passage_tokens: list[Token] | None = None,
        where: str | None = None,
    ) -> Instance:
        """
        # Parameters

        question, passage : `str`
            Raw text.
        answers : `Sequence[Answer]`, optional
            The gold answers.
        id : `str`, optional
            The question's.
        passage_tokens : `list[Token]`, optional
            The passage's T tokens, where they are known already.
        where : `str`, optional
            Article, paragraph and question, for messages.

        # Returns

        `Instance`
            With the fields `passage` (T tokens), `question`, `metadata` and, if there are answers, `span_start` and
            `span_end`: the first and the last token of the answer, both `NO_SPAN` if none could be found. The metadata
            is a dictionary of `id`, `passage` and `question` (the raw texts), `offsets` (of each passage token: its
            first character, and the one behind its last), `answers` (the gold texts, or None) and `where`.

        # Raises

        `InputError`
            If there is no token in either text, or the tokenizer tells no offsets.
        """
        tokens = passage_tokens or self._tokenizer.tokenize(passage)
        asked = self._tokenizer.tokenize(question)
        for name, found in (("passage", tokens), ("question", asked)):
            if not found:
                raise InputError(f"{where or 'the input'}: the {name} needs a word at least")
        offsets = [_offsets(token) for token in tokens]
        text = TextField(tokens)
        golds = None if answers is None else [answer.text for answer in answers]
        metadata: dict[str, Any] = {"id": id, "passage": passage, "question": question, "answers": golds}
        metadata |= {"offsets": offsets, "where": where}
        fields: dict[str, Field] = {"passage": text, "question": TextField(asked), "metadata": MetadataField(metadata)}
        if answers is not None:
            spans = (align(answer, passage, offsets) for answer in answers)
            start, end = next(filter(None, spans), (NO_SPAN, NO_SPAN))
            fields |= {"span_start": IndexField(start, text), "span_end": IndexField(end, text)}
        return Instance(fields)

    def apply_token_indexers(self, instance: Instance) -> None:
        """Gives the text fields their indexers, which do not travel between processes."""
        for name in ("passage", "question"):
            instance.fields[name].token_indexers = self._token_indexers


def align(answer: Answer, passage: str, offsets: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """
    The first and the last token that share a character with the answer; None if the passage has another text at that
    place, or no token.

    # Parameters

    offsets : `Sequence[tuple[int, int]]`
        Of each token its first character, and the one behind its last.
    """
    if answer.start < 0 or passage[answer.start : answer.start + len(answer.text)] != answer.text:
        return None
    first = bisect_right(offsets, answer.start, key=lambda offset: offset[1])
    last = bisect_left(offsets, answer.start + len(answer.text), key=lambda offset: offset[0]) - 1
    return (first, last) if first <= last else None


def _offsets(token: Token) -> tuple[int, int]:
    if token.idx is None or token.idx_end is None:
        raise InputError("the tokenizer must tell where each token starts and ends", hint="the default tokenizer does")
    return token.idx, token.idx_end


def _default_indexers() -> dict[str, TokenIndexer]:
    return {
        "tokens": WordIndexer(),
        "token_characters": TokenCharactersIndexer(
            character_tokenizer=FirstCharacters(limit=CHARACTERS_READ), min_padding_length=1
        ),
        "elmo": CharacterIndexer(),
    }


def _kinds(instance: Instance, answers: Sequence[Answer]) -> Iterator[str]:
    """What the counts of a file say about one question."""
    yield "questions"
    start, end = (instance.fields[name].sequence_index for name in ("span_start", "span_end"))
    offsets = instance.fields["metadata"].metadata["offsets"]
    if start == NO_SPAN:
        yield "unaligned"
    elif all((offsets[start][0], offsets[end][1]) != (a.start, a.start + len(a.text)) for a in answers):
        yield "widened"


def _log_counts(file: str, counts: Counter[str]) -> None:
    share = 100 * counts["unaligned"] / max(1, counts["questions"])
    logger.log(
        logging.WARNING if share > UNALIGNED_PERCENT else logging.INFO,
        "%s: %d questions; %d without an answer dropped; %d (%.2f%%) whose answer is not found in its paragraph, not"
        " trained on; %d whose answer ends inside a token, trained on the whole tokens",
        file,
        counts["questions"],
        counts["dropped"],
        counts["unaligned"],
        share,
        counts["widened"],
    )
