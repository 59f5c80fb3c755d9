import pytest

from elmo_tasks.tasks.squad.tokenization import SquadTokenizer

TOKENIZER = SquadTokenizer()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The ferry left.", "The ferry left ."),
        ("1893-94", "1893 - 94"),
        ("fire—and", "fire – and"),
        ("passengers/year", "passengers / year"),
        ("£300 €5 20°C", "£ 300 € 5 20 ° C"),
        ("“a dog”", "“ a dog ”"),
        ("the master's dog couldn't", "the master 's dog could n't"),
        ("the master’s dog", "the master ’s dog"),
        ("so _x_ a_b", "so _ x _ a _ b"),
        ("O'Neill", "O ' Neill"),
        ("−5", "- 5"),
    ],
)
def test_split(text: str, tokens: str) -> None:
    assert " ".join(token.text or "" for token in TOKENIZER.tokenize(text)) == tokens


def test_offsets() -> None:
    text = "  \n The café–bar's “menu” of 1893–94 cost £3.50/head — naïve 😀 folk (don't ask) paid it.\t"
    tokens = TOKENIZER.tokenize(text)
    assert "".join(text[token.idx : token.idx_end] for token in tokens) == "".join(text.split())
    assert all(token.idx is not None and token.idx_end is not None for token in tokens)
    differing = [(token.text, text[token.idx : token.idx_end]) for token in tokens]
    assert [pair for pair in differing if pair[0] != pair[1]] == [("–", "—")]
