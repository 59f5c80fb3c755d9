"""
Seconds that AllenNLP's ELMo takes, and with `--fast-elmo`: a model of the paper's sizes
with random weights, on the CPU.
"""

import tempfile
import time
from pathlib import Path

import torch
from torch import nn

import elmo_tasks.plugin  # noqa: F401 (it makes AllenNLP importable)

# isort: split
from allennlp.modules.elmo import Elmo, batch_to_ids

from elmo_tasks.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.training.fast_elmo import use_fast_elmo
from tests.tiny import FIXTURES

BATCHES = 8
SENTENCES = 16


def main() -> None:
    """Prints both times, and how far the vectors are from each other."""
    text = FIXTURES / "miniworld" / "lm" / "heldout.miniworld.txt"
    lines = text.read_text().splitlines()[: BATCHES * SENTENCES]
    sentences = [line.split() for line in lines]
    batches = []
    for start in range(0, len(sentences), SENTENCES):
        batches.append(batch_to_ids(sentences[start : start + SENTENCES]))
    torch.manual_seed(1)
    bilm = BiLM(BiLMOptions())
    with tempfile.TemporaryDirectory() as folder:
        options_file, weight_file = (
            Path(folder) / "options.json",
            Path(folder) / "w.hdf5",
        )
        bilm.save_files(options_file, weight_file, compress=False)
        elmo = Elmo(str(options_file), str(weight_file), 1).eval()
    model = nn.ModuleList([elmo])
    plain, seconds = vectors(elmo, batches)
    elmo._elmo_lstm._elmo_lstm.reset_states()
    use_fast_elmo(model)
    fast, fast_seconds = vectors(elmo, batches)
    words = sum([len(sentence) for sentence in sentences])
    furthest = 0.0
    for one, other in zip(plain, fast, strict=True):
        furthest = max(furthest, (one - other).abs().max().item())
    print(f"{words} words in batches of {SENTENCES}, {torch.get_num_threads()} threads")
    print(f"AllenNLP {seconds:.1f} s, --fast-elmo {fast_seconds:.1f} s")
    print(f"{seconds / fast_seconds:.1f} times as fast, difference {furthest:.1e}")


@torch.no_grad()
def vectors(
    elmo: Elmo, batches: list[torch.Tensor]
) -> tuple[list[torch.Tensor], float]:
    """The vectors of each batch, and the seconds for all."""
    began = time.perf_counter()
    found = [elmo(batch)["elmo_representations"][0] for batch in batches]
    return found, time.perf_counter() - began


if __name__ == "__main__":
    main()
