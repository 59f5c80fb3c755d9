"""
The models of the configs at scale `paper`: where they have dropout, what is trained and
what is frozen.
"""

import inspect
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
import torch
from allennlp.models import Model
from torch import Tensor, nn

from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.tasks.coref.model import CorefModel
from elmo_tasks.tasks.snli.model import EntailmentModel
from elmo_tasks.tasks.squad.model import SquadModel
from elmo_tasks.tasks.sst.layers import MaxoutHead
from tests.test_configs import build

VARIATIONAL, ELEMENTS = "InputVariationalDropout", "Dropout"
RECURRENT = "of an LSTM's state"
"""Kinds of dropout: of the same units at all tokens; of single numbers."""

Places = dict[str, tuple[str, float, int]]
"""
The module, the kind of its dropout, the rate, and how often it is applied to a batch.
"""

DOCUMENTS = 3
"""In the sample for coreference."""

CHARACTERS = "embedder.token_embedder_token_characters._encoder._module"
SQUAD: Places = {
    f"input_encoder.{CHARACTERS}.dropout": (ELEMENTS, 0.2, 2),
    "input_encoder.input_dropout": (VARIATIONAL, 0.2, 2),
    "input_encoder.output_dropout": (VARIATIONAL, 0.2, 2),
    "self_attention.dropout": (VARIATIONAL, 0.2, 2),
    "dropout": (VARIATIONAL, 0.2, 1),
}
SNLI: Places = {
    "input_encoder.encoder.dropout": (VARIATIONAL, 0.5, 2),
    "composition.dropout": (VARIATIONAL, 0.5, 2),
    "classifier.0": (ELEMENTS, 0.5, 1),
    "classifier.3": (ELEMENTS, 0.5, 1),
}
COREF: Places = {
    "input_encoder.input_dropout": (ELEMENTS, 0.5, DOCUMENTS),
    "input_encoder.encoder": (RECURRENT, 0.2, DOCUMENTS),
}
for place in (
    "input_encoder.output_dropout",
    "spans.dropout",
    "spans.score.rest.1",
    "spans.score.rest.4",
    "antecedents.dropout",
    "antecedents.score.rest.1",
    "antecedents.score.rest.4",
):
    COREF[place] = (ELEMENTS, 0.2, DOCUMENTS)
SST: Places = {
    "input_encoder.input_dropout": (ELEMENTS, 0.25, 1),
    "input_encoder.encoder.feedforward_dropout": (ELEMENTS, 0.25, 1),
    "pool.dropout": (ELEMENTS, 0.1, 1),
    "head.layers.0._dropout.0": (ELEMENTS, 0.2, 1),
    "head.layers.0._dropout.1": (ELEMENTS, 0.2, 1),
}
SST_ALLENNLP: Places = {
    "input_encoder.input_dropout": (ELEMENTS, 0.5, 1),
    "input_encoder.encoder.feedforward_dropout": (ELEMENTS, 0.25, 1),
    "pool.dropout": (ELEMENTS, 0.1, 1),
    "head.layers._dropout.0": (ELEMENTS, 0.2, 1),
    "head.layers._dropout.1": (ELEMENTS, 0.3, 1),
}
LAYERS: Places = {"input_encoder.encoder.dropout": (VARIATIONAL, 0.5, 2)}
"""Of two LSTMs."""

HIGHWAY: Places = {"input_encoder.encoder": (RECURRENT, 0.1, 1)}


def elmo(rate: float, uses: int) -> Places:
    return {"input_encoder.elmo.dropout": (ELEMENTS, rate, uses)}


DROPOUT: dict[str, Places] = {
    "squad": SQUAD,
    "squad_elmo": SQUAD | elmo(0.5, 4),
    "snli": SNLI,
    "snli_elmo": SNLI | {"attention_dropout": (ELEMENTS, 0.5, 2)},
    "srl": HIGHWAY,
    "srl_elmo": HIGHWAY | elmo(0.1, 1),
    "coref": COREF,
    "coref_elmo": COREF,
    "ner": LAYERS,
    "ner_elmo": LAYERS,
    "sst": SST,
    "sst_elmo": SST | elmo(0.5, 2),
    "sst_allennlp": SST_ALLENNLP,
    "tagger": LAYERS,
    "tagger_elmo": LAYERS,
}
"""See docs/PAPER.md."""

FIXED: dict[str, list[str]] = {
    "squad": ["tokens.weight"],
    "snli": ["tokens.weight"],
    "coref": ["tokens.parts.0.weight", "tokens.parts.1.weight"],
    "ner": ["crf._constraint_mask"],
    "sst": ["tokens.weight"],
    "sst_allennlp": ["tokens.weight"],
}
"""
The ends of the names of parameters that are not trained; word vectors are elsewhere.
"""

Built = tuple[Model, Callable[[], Tensor]]
"""A model, and its loss for the same batch at each call."""


@pytest.fixture(scope="module")
def model_of(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Built]:
    @cache
    def make(name: str) -> Built:
        config = root / f"training_config/paper/{name}.jsonnet"
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv(DATA_VARIABLE, str(root))
            trainer = build(tmp_path_factory.mktemp(name), config).trainer
        batches = list(trainer.data_loader)
        if not name.startswith("coref"):
            batches = batches[:1]  # of coreference all: not each document has a loss

        def loss() -> Tensor:
            torch.manual_seed(3)
            losses = [trainer.model(**batch)["loss"] for batch in batches]
            return torch.stack(losses).sum()

        return trainer.model, loss

    return make


def rates(model: Model) -> dict[str, tuple[nn.Module, str]]:
    """
    The modules with dropout, each with the name of the attribute that has the rate.
    """
    found = {}
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if isinstance(value, float) and key in ("p", "dropout", "_dropout"):
                found[name] = module, key
    return found


@pytest.mark.parametrize("name", DROPOUT)
def test_places_and_rates_of_dropout(
    name: str, model_of: Callable[[str], Built]
) -> None:
    model, loss = model_of(name)
    uses: Counter[str] = Counter()
    found = {}
    hooks = []
    for place, (module, key) in rates(model).items():
        if getattr(module, key):
            kind = type(module).__name__
            if kind not in (VARIATIONAL, ELEMENTS):
                kind = RECURRENT
            found[place] = (kind, getattr(module, key))
            hooks.append(module.register_forward_hook(partial(_count, uses, place)))
    with torch.no_grad():
        model.train()
        loss()
    for hook in hooks:
        hook.remove()
    counted = {}
    for place, (kind, rate) in found.items():
        counted[place] = (kind, rate, uses[place])
    assert counted == DROPOUT[name]


def _count(uses: Counter[str], place: str, *_: object) -> None:
    uses[place] += 1


@pytest.mark.parametrize("name", [name for name in DROPOUT if name.endswith("_elmo")])
def test_each_dropout_changes_the_loss_of_training_alone(
    name: str, model_of: Callable[[str], Built]
) -> None:
    model, loss = model_of(name)
    places = {}
    rate = {}
    for place, (module, key) in rates(model).items():
        if getattr(module, key):
            places[place] = (module, key)
            rate[place] = getattr(module, key)
    with torch.no_grad():
        model.eval()
        evaluated = loss().item()  # with all rates
        for module, key in places.values():
            setattr(module, key, 0.0)
        model.train()
        trained = loss().item()
        for place, (module, key) in places.items():
            setattr(module, key, rate[place])
            assert loss().item() != trained, place
            setattr(module, key, 0.0)
            assert loss().item() == trained, place
    for place, (module, key) in places.items():
        setattr(module, key, rate[place])
    assert evaluated == pytest.approx(trained, rel=1e-5)


@pytest.mark.parametrize("name", DROPOUT)
def test_a_step_moves_what_is_trained(
    name: str, model_of: Callable[[str], Built]
) -> None:
    model, loss = model_of(name)
    frozen = [key for key, one in model.named_parameters() if not one.requires_grad]
    expected = FIXED.get(name.removesuffix("_elmo"), [])
    assert len(frozen) == len(expected)
    assert all(map(str.endswith, frozen, expected))
    before = {key: value.clone() for key, value in tensors_of(model).items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model.train()
    for _ in range(5):  # some layers start with weights of 0
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    moved = set()
    for key, value in tensors_of(model).items():
        if not torch.equal(value, before[key]):
            moved.add(key)
    trained = {key for key, one in model.named_parameters() if one.requires_grad}
    cancelled = {"pool.score.bias"}  # by a softmax
    assert moved - cancelled == trained - cancelled


def tensors_of(model: Model) -> dict[str, Tensor]:
    """
    Parameters, buffers, and the weights of ELMo's source, which are no part of the
    state.
    """
    found = dict(model.state_dict())
    elmo = model.input_encoder.elmo
    if elmo is not None:
        weights = elmo.source.state_dict()
        assert weights and "source" not in " ".join(found)
        for key, value in weights.items():
            found[f"source.{key}"] = value
    return found


DEFAULTS: dict[type, dict[str, object]] = {
    BiLanguageModel: {"dropout": 0.1},
    BiLMModel: {"dropout": 0.1},
    SquadModel: {"max_span_length": 17},
    EntailmentModel: {"dropout": 0.5, "attention_dropout": 0.5, "weight_l2": 1e-4},
    CorefModel: {
        "hidden_size": 150,
        "feature_size": 20,
        "dropout": 0.2,
        "max_span_width": 10,
        "spans_per_word": 0.4,
        "max_antecedents": 250,
        "max_training_sentences": 50,
    },
    MaxoutHead: {"pool_size": 4},
}
"""Values of the paper, or of its code, that a config need not state."""


@pytest.mark.parametrize("of", DEFAULTS)
def test_defaults_are_the_papers(of: type) -> None:
    parameters = inspect.signature(of).parameters
    found = {name: parameters[name].default for name in DEFAULTS[of]}
    assert found == DEFAULTS[of]
