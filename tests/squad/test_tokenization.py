import pytest

from elmo_tasks.tasks.squad.reader import SquadTokenizer

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
    found = [token.ensure_text() for token in TOKENIZER.tokenize(text)]
    assert " ".join(found) == tokens
