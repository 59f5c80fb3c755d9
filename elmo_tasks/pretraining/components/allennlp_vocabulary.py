"""The words of a language model as AllenNLP's vocabulary."""

from pathlib import Path
from typing import Annotated, Optional, Union

from allennlp.data import DatasetReader, Vocabulary
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from overrides import overrides

from elmo_tasks.pretraining.components.reader import text_files
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.settings import (
    Filled,
    ListOf,
    PathLike,
    Size,
    Wrong,
    checked,
    require_none,
)
from elmo_tasks.system.files import write_text

WORDS = "words"
"""
The vocabulary's namespace; its file in an archive, `vocabulary/words.txt`, is an
official `vocabulary.txt`.
"""


@Vocabulary.register("elmo_tasks_words", constructor="from_corpus")
class LmVocabulary(Vocabulary):
    """
    A vocabulary with one namespace, `words`: the classes of the language model's
    softmax.
    """

    @classmethod
    @checked
    def from_corpus(
        cls,
        files: Union[PathLike, Annotated[ListOf[PathLike], Filled], None] = None,
        size: Optional[Size] = None,
        min_count: Optional[Size] = None,
        file: Optional[PathLike] = None,
        reader: Optional[DatasetReader] = None,
    ) -> "LmVocabulary":
        """
        The words of a language model: counted in text, or read from a `vocabulary.txt`.

        # Parameters

        - `files`: paths or globs of text whose words are counted.
        - `size`: keep this many of the most frequent words. Not with `min_count`.
        - `min_count`: keep words that occur at least this often.
        - `file`: a `vocabulary.txt` to read; then `files`, `size` and `min_count` are
          null.
        - `reader`: makes the text from `files`, such as `elmo_tasks_task_text`.

        Raises `InputError` if these do not go together, or a file cannot be read.
        """
        found = []
        if (files is None) == (file is None):
            found.append(Wrong("files", "file, or files with size or min_count", files))
        if file is not None and (size or min_count):
            found.append(Wrong("file", "null with size or min_count", file))
        require_none(found)
        if file is not None:
            return cls.of(WordVocabulary.from_file(file))
        paths = text_files(reader, files or [])
        return cls.of(WordVocabulary.count(paths, size=size, min_count=min_count))

    @classmethod
    def of(cls, words: WordVocabulary) -> "LmVocabulary":
        """The words as AllenNLP's vocabulary, with the same ids."""
        vocabulary = cls(non_padded_namespaces=[WORDS])
        for word in words.words:
            vocabulary.add_token_to_namespace(word, WORDS)
        return vocabulary

    @overrides
    def save_to_files(self, directory: str) -> None:
        """
        As in AllenNLP, but atomic.
        """
        saved = Path(directory) / f"{WORDS}.txt"
        write_text(saved.with_name(NAMESPACE_PADDING_FILE), f"{WORDS}\n")
        self.to_words().save(saved)

    def to_words(self) -> WordVocabulary:
        """The words in the order of their ids."""
        word_of = self.get_index_to_token_vocabulary(WORDS)
        return WordVocabulary([word_of[number] for number in range(len(word_of))])
