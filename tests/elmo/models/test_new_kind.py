"""
A new kind of model is one file: here a frozen LSTM of PyTorch over a list of words. It
is resolved, digested, recorded, archived, saved and cached as the others.
"""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import ids_to_text, token_mask
from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers, opened_models
from elmo_tasks.elmo.models.files import files_of
from elmo_tasks.elmo.models.record import record_models
from elmo_tasks.elmo.sources.types import SOURCES, SourceSettings, register_source
from elmo_tasks.errors import InputError

SENTENCES = [["The", "harbour", "froze", "over", "."], ["It", "ended", "."]]
WORDS = ["<unk>", *sorted({word for sentence in SENTENCES for word in sentence})]


@register_source(
    "tests_word_lstm",
    files={"model": "a list of words and an LSTM"},
    patterns=("words.txt", "weights.pt"),
)
class WordLSTM(nn.Module):
    """Layer 0 is the vector of a word, layer 1 the state of the LSTM, both of width D."""

    n_layers, output_dim = 2, 6
    state, precision, dtype = "reset", "float32", torch.float32

    def __init__(self, model: Path) -> None:
        super().__init__()
        words = (model / "words.txt").read_text().split("\n")
        self.row_of = {word: row for row, word in enumerate(words)}
        self.vectors = nn.Embedding(len(words), self.output_dim)
        self.lstm = nn.LSTM(self.output_dim, self.output_dim, batch_first=True)
        self.load_state_dict(torch.load(model / "weights.pt", weights_only=True))

    def forward(self, character_ids: Tensor) -> LayerOutput:
        mask = token_mask(character_ids)  # [B, T]
        rows = torch.zeros(mask.shape, dtype=torch.long)
        words = ids_to_text(character_ids[mask])
        rows[mask] = torch.tensor([self.row_of.get(word, 0) for word in words])
        vectors = self.vectors(rows)  # [B, T, D]
        states, _ = self.lstm(vectors)
        return LayerOutput(torch.stack([vectors, states]) * mask[:, :, None], mask)


def write(folder: Path, seed: int = 1) -> dict[str, str]:
    """The files of a random model, and the keys of a config."""
    folder.mkdir()
    torch.manual_seed(seed)
    parts = {"vectors": nn.Embedding(len(WORDS), 6), "lstm": nn.LSTM(6, 6)}
    torch.save(nn.ModuleDict(parts).state_dict(), folder / "weights.pt")
    (folder / "words.txt").write_text("\n".join(WORDS))
    (folder / "notes.txt").write_text("not read")
    return {"source": "tests_word_lstm", "model": str(folder)}


def layers_of(settings: dict[str, Any], **options: Any) -> Tensor:
    layers = Layers.open(SourceSettings.of(settings), **options)
    return layers.of_words(SENTENCES).layers


def test_its_layers_are_those_of_torch(tmp_path: Path) -> None:
    layers = layers_of(write(tmp_path / "model"))  # [L+1, B, T, D]
    model = WordLSTM(tmp_path / "model")
    for row, sentence in enumerate(SENTENCES):
        rows = torch.tensor([[model.row_of[word] for word in sentence]])
        states, _ = model.lstm(model.vectors(rows))
        torch.testing.assert_close(layers[1, row, : len(sentence)], states[0])


def test_its_files_are_its_identity(tmp_path: Path) -> None:
    settings = SourceSettings.of(write(tmp_path / "model"))
    before = files_of(settings).sha256
    (tmp_path / "model/notes.txt").write_text("other notes")
    assert files_of(settings).sha256 == before
    for name in ("words.txt", "weights.pt"):
        file = tmp_path / "model" / name
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert files_of(settings).sha256 != before
        file.write_bytes(content)


@pytest.mark.parametrize("archive", [False, True])
def test_a_trained_model_finds_it(archive: bool, tmp_path: Path) -> None:
    settings = {**write(tmp_path / "model"), "archive": archive}
    opened = Layers.open(SourceSettings.of(settings))
    expected = opened.of_words(SENTENCES).layers
    run = tmp_path / "run"
    run.mkdir()
    record_models(run, opened_models(opened))
    if archive:
        shutil.rmtree(tmp_path / "model")
    assert torch.equal(layers_of(settings, run_folder=str(run)), expected)
    other = {**settings, **write(tmp_path / "other", seed=2)}
    with pytest.raises(InputError, match="this model was trained on another tests_wo"):
        layers_of(other, run_folder=str(run))


def test_it_is_saved_and_cached(tmp_path: Path) -> None:
    settings = write(tmp_path / "model")
    expected = layers_of(settings)
    Elmo(Layers.open(SourceSettings.of(settings))).save_pretrained(tmp_path / "saved")
    saved = {**settings, "model": str(tmp_path / "saved")}
    cache = tmp_path / "cache"
    for given in (settings, saved):
        found = layers_of(given, cache_dir=cache)
        torch.testing.assert_close(found, expected, atol=1e-3, rtol=0.0)
    assert len(list((tmp_path / "cache").iterdir())) == 1  # one model, by its digest
    other = layers_of(write(tmp_path / "other", seed=2), cache_dir=cache)
    assert not torch.allclose(other, expected, atol=0.01)


def test_no_other_model_is_saved_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "model")
    named = replace(
        SOURCES["tests_word_lstm"], is_in=lambda names, _: "words.txt" in names
    )
    monkeypatch.setitem(SOURCES, "tests_word_lstm", named)
    with pytest.raises(InputError, match="no files of another model, got .*words.txt"):
        Elmo.from_pretrained(device="cpu").save_pretrained(tmp_path / "model")
    assert Elmo.from_pretrained(tmp_path / "model", device="cpu").dimension == 6


def test_its_code_never_runs_for_a_name_alone(tmp_path: Path) -> None:
    write(tmp_path / "model")
    with pytest.raises(InputError, match="expected the files of one model, got none"):
        Elmo.from_pretrained(tmp_path / "model", device="cpu")
