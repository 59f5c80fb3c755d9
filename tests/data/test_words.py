"""Word ids: as written, else lower-cased, else unknown; never the padding's."""

from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.data.words import WordIndexer


def ids_of(words: list[str], vocabulary: Vocabulary) -> list[int]:
    return WordIndexer().tokens_to_indices([Token(word) for word in words], vocabulary)["tokens"]


def test_order_of_the_look_up() -> None:
    vocabulary = Vocabulary(counter={"tokens": {"May": 5, "may": 4, "harbour": 3}})
    assert ids_of(["May", "may", "Harbour", "MAY", "Harrow"], vocabulary) == [2, 3, 4, 3, 1]


def test_the_padding_token_in_a_text_is_an_unknown_word() -> None:
    vocabulary = Vocabulary(counter={"tokens": {"may": 1}})
    assert ids_of(["@@PADDING@@", "may"], vocabulary) == [1, 2]


def test_counts_words_as_they_are_written() -> None:
    counter: dict[str, dict[str, int]] = {"words": {"May": 1, "may": 0}}
    indexer = TokenIndexer.from_params(Params({"type": "elmo_tasks_word_ids", "namespace": "words"}))
    indexer.count_vocab_items(Token("May"), counter)
    assert counter == {"words": {"May": 2, "may": 0}}
    assert isinstance(indexer, WordIndexer)
