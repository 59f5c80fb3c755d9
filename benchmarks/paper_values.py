"""
Values of the paper, or of its code, that stand in our code: does a test notice when one
is changed?

Each row of `CHANGES` is made in a clone of the project, and the tests beside it run
there. Those in configs are compared with the paper by tests/docs/test_fidelity.py.
Prints the changes that no test notices; `python benchmarks/paper_values.py WORD` tries
those in whose line the word is.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CLONE = Path("out/paper_values")
SECONDS = 600.0
"""For the tests of one change."""


class Change(NamedTuple):
    """`old` is replaced in a file of `elmo_tasks` where it stands first."""

    value: str
    file: str
    old: str
    new: str
    tests: str


MIX = "tests/elmo/test_scalar_mix.py tests/elmo/test_embedder.py"
ENCODERS = "tests/nn/test_encoders.py"
COREF = (
    "tests/coref/test_scoring.py tests/coref/test_model.py"
    " tests/tasks/test_paper_models.py"
)
PAPER = "tests/tasks/test_paper_models.py"
OPTIONS = "tests/bilm/test_options.py"
BILM = "tests/bilm/test_bilm.py tests/bilm/test_lstm.py"
SOFTMAX = "tests/pretraining/test_softmax.py tests/pretraining/test_language_model.py"
HIGHWAY = "tests/nn/test_highway_lstm.py tests/nn/test_encoders.py"
ATTENTION = "tests/nn/test_attention_flow.py"

CHANGES = [
    # Equation 1 and its penalty (3.2, 3.3)
    Change(
        "gamma starts at 1",
        "elmo/scalar_mix.py",
        "torch.ones(())",
        "torch.full((), 1.1)",
        MIX,
    ),
    Change(
        "w starts at 0",
        "elmo/scalar_mix.py",
        "torch.zeros(n_layers)",
        "torch.arange(n_layers) / 9",
        MIX,
    ),
    Change(
        "the mix is normalised",
        "elmo/scalar_mix.py",
        "shares = self.weights.softmax(0)",
        "shares = self.weights.exp()",
        MIX,
    ),
    Change(
        "lambda is on the raw weights",
        "elmo/scalar_mix.py",
        "self.weights.square()",
        "self.weights.softmax(0).square()",
        MIX,
    ),
    Change(
        "layer normalisation, epsilon",
        "elmo/scalar_mix.py",
        "EPSILON = 1e-12",
        "EPSILON = 1e-3",
        MIX,
    ),
    # The biLM (3.4)
    Change(
        "4096 units",
        "bilm/options.py",
        "dim: Width = 4096",
        "dim: Width = 2048",
        OPTIONS,
    ),
    Change(
        "projection of 512",
        "bilm/options.py",
        "projection_dim: Width = 512",
        "projection_dim: Width = 256",
        OPTIONS,
    ),
    Change(
        "two layers",
        "bilm/options.py",
        "n_layers: Depth = 2",
        "n_layers: Depth = 3",
        OPTIONS,
    ),
    Change("two highways", "bilm/options.py", "= 2\n    dim", "= 1\n    dim", OPTIONS),
    Change(
        "characters of 16",
        "bilm/options.py",
        "character_dim: Width = 16",
        "character_dim: Width = 15",
        OPTIONS,
    ),
    Change(
        "cells are clipped at 3",
        "bilm/options.py",
        "cell_clip: _Clip = 3.0",
        "cell_clip: _Clip = 4.0",
        OPTIONS,
    ),
    Change(
        "projections are clipped at 3",
        "bilm/options.py",
        "proj_clip: _Clip = 3.0",
        "proj_clip: _Clip = 4.0",
        OPTIONS,
    ),
    Change(
        "highway gates start closed",
        "bilm/token_encoder.py",
        "(self.gate, -2.0)",
        "(self.gate, 2.0)",
        BILM,
    ),
    Change(
        "characters start in [-1, 1]",
        "bilm/token_encoder.py",
        "self.characters, -1.0, 1.0",
        "self.characters, -0.5, 0.5",
        BILM,
    ),
    Change(
        "convolutions start in [-0.05, 0.05]",
        "bilm/token_encoder.py",
        "convolution.weight, -0.05, 0.05",
        "convolution.weight, -0.5, 0.5",
        BILM,
    ),
    Change(
        "LSTMs start Glorot-uniform",
        "bilm/lstm.py",
        "(6.0 / (2 * self.projection_dim",
        "(3.0 / (2 * self.projection_dim",
        BILM,
    ),
    Change(
        "residual connection",
        "bilm/lstm.py",
        "depth and self.use_skip_connections",
        "self.use_skip_connections",
        BILM,
    ),
    # Its training
    Change(
        "negatives are log-uniform",
        "pretraining/softmax.py",
        "torch.log1p(1.0 / (ranks + 1.0))",
        "torch.log1p(1.0 / (ranks + 2.0))",
        SOFTMAX,
    ),
    Change(
        "expected counts of distinct negatives",
        "pretraining/softmax.py",
        "-torch.expm1(tries * self._log_misses[ids])",
        "-(tries * self._log_misses[ids])",
        SOFTMAX,
    ),
    Change(
        "the softmax's deviation",
        "pretraining/softmax.py",
        "std=self.dim**-0.5",
        "std=self.dim**-1.0",
        SOFTMAX,
    ),
    Change(
        "dropout before the softmax",
        "pretraining/language_model.py",
        "functional.dropout(outputs[-1], dropout)",
        "outputs[-1]",
        SOFTMAX,
    ),
    Change(
        "dropout at layers' inputs",
        "pretraining/language_model.py",
        "starts, dropout=dropout,",
        "starts,",
        SOFTMAX,
    ),
    Change(
        "states are carried without gradients",
        "pretraining/language_model.py",
        "cell.detach(), hidden.detach()",
        "cell, hidden",
        "tests/pretraining",
    ),
    Change(
        "dropout of 0.1",
        "pretraining/language_model.py",
        "dropout: Probability = 0.1",
        "dropout: Probability = 0.2",
        PAPER,
    ),
    # SQuAD (A.4)
    Change(
        "GRUs' deviation of 0.05",
        "nn/encoders/gru.py",
        "DEVIATION = 0.05",
        "DEVIATION = 0.06",
        ENCODERS,
    ),
    Change(
        "truncated at two deviations",
        "nn/encoders/gru.py",
        "limit = 2 * INITIAL",
        "limit = 3 * INITIAL",
        ENCODERS,
    ),
    Change(
        "the trilinear products",
        "nn/attention.py",
        "bound = (3 / width**0.5)",
        "bound = (1 / width**0.5)",
        ATTENTION,
    ),
    Change(
        "the score of no word starts at -1",
        "nn/attention.py",
        "INITIAL_NULL_SCORE = -1.0",
        "INITIAL_NULL_SCORE = 0.0",
        ATTENTION,
    ),
    Change(
        "spans of 17 words",
        "tasks/squad/model.py",
        "max_span_length: Size = 17",
        "max_span_length: Size = 16",
        PAPER,
    ),
    Change(
        "dropout before the pointers",
        "tasks/squad/model.py",
        "self.pointers(self.dropout(x)",
        "self.pointers((x)",
        PAPER,
    ),
    Change(
        "dropout after the self-attention's GRU",
        "tasks/squad/layers.py",
        "g = self.dropout(",
        "g = (",
        PAPER,
    ),
    # SNLI (A.3)
    Change(
        "weights are penalized with 1e-4",
        "tasks/snli/model.py",
        "weight_l2: Factor = 1e-4",
        "weight_l2: Factor = 1e-5",
        PAPER,
    ),
    Change(
        "dropout of 0.5",
        "tasks/snli/model.py",
        "dropout: Probability = 0.5",
        "dropout: Probability = 0.4",
        "tests/snli tests/tasks/test_paper_models.py",
    ),
    Change(
        "dropout after the attention",
        "tasks/snli/model.py",
        "attention_dropout: Probability = 0.5",
        "attention_dropout: Probability = 0.4",
        "tests/snli tests/tasks/test_paper_models.py",
    ),
    Change(
        "the penalty is not halved",
        "tasks/snli/model.py",
        "matrix.square().sum()",
        "matrix.square().sum() / 2",
        "tests/snli",
    ),
    Change(
        "[h; a; h - a; h * a]",
        "tasks/snli/model.py",
        "h - attended, h * attended",
        "attended - h, h * attended",
        "tests/snli",
    ),
    Change(
        "ReLU of the projection",
        "tasks/snli/model.py",
        "self.projection(enhanced).relu()",
        "self.projection(enhanced).tanh()",
        "tests/snli",
    ),
    # SRL (A.5)
    Change(
        "orthogonal gates",
        "nn/encoders/highway_lstm.py",
        "nn.init.orthogonal_(block)",
        "nn.init.xavier_uniform_(block)",
        HIGHWAY,
    ),
    Change(
        "forget biases of 1",
        "nn/encoders/highway_lstm.py",
        "FORGET_BIAS = 1.0",
        "FORGET_BIAS = 0.0",
        HIGHWAY,
    ),
    Change(
        "variational dropout",
        "nn/encoders/highway_lstm.py",
        "> self._dropout\n",
        "> 0.0\n",
        HIGHWAY,
    ),
    Change(
        "an orthogonal output layer",
        "tasks/srl/model.py",
        "nn.init.orthogonal_(self.score_tags.weight)",
        "nn.init.xavier_uniform_(self.score_tags.weight)",
        "tests/srl tests/nn/test_encoders.py",
    ),
    # Coreference (A.6)
    Change(
        "spans of 10 words",
        "tasks/coref/model.py",
        "max_span_width: Width = 10",
        "max_span_width: Width = 9",
        COREF,
    ),
    Change(
        "0.4 spans a word",
        "tasks/coref/model.py",
        "spans_per_word: Positive = 0.4",
        "spans_per_word: Positive = 0.5",
        COREF,
    ),
    Change(
        "250 antecedents",
        "tasks/coref/model.py",
        "max_antecedents: Size = 250",
        "max_antecedents: Size = 50",
        COREF,
    ),
    Change(
        "50 sentences",
        "tasks/coref/model.py",
        "max_training_sentences: Size = 50",
        "max_training_sentences: Size = 49",
        COREF,
    ),
    Change(
        "150 hidden units",
        "tasks/coref/model.py",
        "hidden_size: Width = 150",
        "hidden_size: Width = 149",
        COREF,
    ),
    Change(
        "features of 20",
        "tasks/coref/model.py",
        "feature_size: Width = 20",
        "feature_size: Width = 19",
        COREF,
    ),
    Change(
        "buckets of distances",
        "tasks/coref/antecedents.py",
        "(1, 2, 3, 4, 5, 8,",
        "(1, 2, 3, 4, 6, 8,",
        COREF,
    ),
    Change(
        "Glorot-uniform scorers",
        "tasks/coref/spans.py",
        "glorot_uniform_(parameter)",
        "parameter.zero_()",
        COREF,
    ),
    Change(
        "an orthogonal recurrence",
        "nn/encoders/coupled_lstm.py",
        "nn.init.orthogonal_(gate)",
        "glorot_uniform_(gate)",
        ENCODERS,
    ),
    Change(
        "dropout of the state",
        "nn/encoders/coupled_lstm.py",
        "self.dropout, self.training)",
        "0.0, self.training)",
        ENCODERS,
    ),
    # NER, SST, SNLI's LSTMs (A.7, A.8)
    Change(
        "forget biases of 1 in stacked LSTMs",
        "nn/encoders/stacked_lstm.py",
        "FORGET_BIAS = 1.0",
        "FORGET_BIAS = 0.0",
        ENCODERS,
    ),
    Change(
        "orthogonal recurrences",
        "nn/encoders/stacked_lstm.py",
        "nn.init.orthogonal_(gate)",
        "nn.init.xavier_uniform_(gate)",
        ENCODERS,
    ),
    Change(
        "Glorot-uniform inputs",
        "nn/encoders/stacked_lstm.py",
        "nn.init.xavier_uniform_(gate)",
        "nn.init.orthogonal_(gate)",
        ENCODERS,
    ),
    Change(
        "dropout before each layer",
        "nn/encoders/stacked_lstm.py",
        "self.dropout(hidden)",
        "(hidden)",
        ENCODERS,
    ),
    Change(
        "dropout after pooling",
        "tasks/sst/layers.py",
        "return self.dropout(torch.cat",
        "return (torch.cat",
        PAPER,
    ),
    Change(
        "maximum, minimum, mean, self-attention",
        "tasks/sst/layers.py",
        "[maximum, minimum, mean,",
        "[maximum, maximum, mean,",
        "tests/sst",
    ),
    Change(
        "maxout of 4",
        "tasks/sst/layers.py",
        "pool_size: Depth = 4",
        "pool_size: Depth = 3",
        "tests/sst tests/tasks/test_paper_models.py",
    ),
    # Optimizers
    Change(
        "the staircase's steps",
        "training/optimization.py",
        "self._updates // self._every",
        "self._updates / self._every",
        "tests/coref tests/training",
    ),
]


def clone() -> Path:
    """A clone of the project's last commit."""
    if CLONE.exists():
        shutil.rmtree(CLONE)
    subprocess.run(["git", "clone", "--quiet", ".", CLONE], check=True)
    return CLONE.resolve()


def run_tests(folder: Path, *arguments: str) -> int:
    """The exit status of pytest; -1 if it takes more than `SECONDS`."""
    own = {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=os.environ | own,
            stdout=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return -1
    return done.returncode


def main() -> None:
    folder = clone()
    unnoticed = []
    for change in CHANGES:
        if len(sys.argv) > 1 and sys.argv[1] not in f"{change.value} {change.file}":
            continue
        file = folder / "elmo_tasks" / change.file
        code = file.read_text()
        if change.old not in code:
            sys.exit(f"error: {change.file} has no {change.old!r}")
        try:
            file.write_text(code.replace(change.old, change.new, 1))
            status = run_tests(folder, "-x", "-m", "not slow", *change.tests.split())
        finally:
            file.write_text(code)
        if status == 0:
            unnoticed.append(change.value)
        print(
            "noticed" if status else "NOT NOTICED",
            change.value,
            change.file,
            flush=True,
        )
    print(f"{len(unnoticed)} of {len(CHANGES)} are not noticed: {', '.join(unnoticed)}")


if __name__ == "__main__":
    main()
