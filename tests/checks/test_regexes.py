"""
A regex of a config that matches no parameter is a problem, for `check` and for a
training.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import Model, SimpleTagger
from allennlp.nn import InitializerApplicator
from allennlp.nn.initializers import ConstantInitializer
from allennlp.nn.regularizers import L2Regularizer, RegularizerApplicator
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from elmo_tasks.cli.check import check_config
from elmo_tasks.errors import InputError
from elmo_tasks.training.checks.regexes import regex_problems
from tests.archives.test_other_models import tagger
from tests.checks.test_training import run
from tests.test_configs import FOLDER

L2 = {"type": "l2", "alpha": 0.1}
ONES = {"type": "constant", "val": 1.0}
OURS = FOLDER / "sst_elmo.jsonnet"


def groups(*regexes: str) -> dict[str, Any]:
    return {"type": "adam", "parameter_groups": [[list(regexes), {"lr": 0.1}]]}


CASES: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {"model.regularizer": {"regexes": [["scalar_parameters", L2]]}},
        "model.regularizer.regexes.0",
        ["scalar_parameters", "elmo.input_mix.weights"],
    ),
    (
        {"model.regularizer": {"regexes": [["bias", L2], ["^input_mix", L2]]}},
        "model.regularizer.regexes.1",
        ["^input_mix", "elmo.input_mix.weights"],
    ),
    (
        {
            "model.regularizer": {"regexes": [["input_mix.weights", L2]]},
            "trainer.no_grad": ["mix"],
        },
        "model.regularizer.regexes.0",
        ["a parameter that is trained", "input_mix.weights"],
    ),
    (
        {"model.initializer": {"regexes": [["elmo.*gama$", ONES]]}},
        "model.initializer.regexes.0",
        ["elmo.*gama$", "elmo.input_mix.gamma"],
    ),
    (
        {
            "model.initializer": {
                "regexes": [["gamma", ONES]],
                "prevent_regexes": ["mix"],
            }
        },
        "model.initializer.regexes.0",
        ["gamma"],
    ),
    ({"trainer.no_grad": ["gamma", "scalar_mix"]}, "trainer.no_grad.1", ["input_mix"]),
    (
        {"trainer.optimizer": groups("bias", "scalar_parameters")},
        "trainer.optimizer.parameter_groups.0.0.1",
        ["input_mix.weights"],
    ),
    (
        {"model.regularizer": {"regexes": [[".*", L2], ["gamma", L2]]}},
        "model.regularizer.regexes.1",
        ["gamma", "earlier regexes match"],
    ),
    (
        {"model.initializer": {"regexes": [["gamma|bias", ONES], ["gamma$", ONES]]}},
        "model.initializer.regexes.1",
        ["gamma", "earlier regexes match"],
    ),
    (
        {"model.regularizer": {"regexes": [["(weights", L2]]}},
        "model.regularizer.regexes.0",
        ["a regular expression", "(weights"],
    ),
]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The config of a model of AllenNLP."""
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "tagger.json").write_text(json.dumps(tagger(folder)))
    return folder / "tagger.json"


@pytest.mark.parametrize(("overrides", "path", "words"), CASES)
@pytest.mark.parametrize("is_ours", [True, False])
def test_check_names_the_regex_and_near_parameters(
    is_ours: bool,
    overrides: dict[str, Any],
    path: str,
    words: list[str],
    theirs: Path,
) -> None:
    config = OURS if is_ours else theirs
    (problem,) = check_config(config, json.dumps(overrides))
    assert problem.path == path
    assert "\n" not in str(problem)
    for word in words:
        assert word in str(problem).replace("embedder_elmo.", "embedder.elmo.")


@pytest.mark.parametrize(
    "overrides",
    [
        {
            "model.regularizer": {"regexes": [["input_mix.weights", L2]]},
            "model.initializer": {"regexes": [["elmo.*gamma$", ONES]]},
        },
        {"trainer.no_grad": ["mix"], "trainer.optimizer": groups("bias", "weight")},
    ],
)
def test_regexes_that_match_are_no_problem(
    overrides: dict[str, Any], theirs: Path
) -> None:
    for config in (OURS, theirs):
        assert check_config(config, json.dumps(overrides)) == []


def test_a_training_is_rejected_before_anything_is_written(
    theirs: Path, tmp_path: Path
) -> None:
    lost = {"model.regularizer": {"regexes": [["scalar_parameters", L2]]}}
    for config in (OURS, theirs):
        before = random.getstate(), torch.get_rng_state()
        with pytest.raises(InputError, match="nothing was read.*\n.*scalar_parameters"):
            run(config, tmp_path / "run", **lost)
        assert random.getstate() == before[0]
        assert torch.equal(torch.get_rng_state(), before[1])
        assert not (tmp_path / "run").exists()


@Model.register("tests_tagger_with_folder")
class TaggerWithFolder(SimpleTagger):
    """A user's model, which cannot be constructed outside the folder of a run."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if Path(self.serialization_dir).name != "run":
            raise ValueError("there is no folder")


def test_a_model_that_only_a_training_can_construct(
    theirs: Path, tmp_path: Path
) -> None:
    lost = {
        "model.type": "tests_tagger_with_folder",
        "model.regularizer": {"regexes": [["scalar_parameters", L2]]},
    }
    assert check_config(theirs, json.dumps(lost)) == []
    with pytest.raises(InputError, match="one problem:\n.*scalar_parameters"):
        run(theirs, tmp_path / "run", **lost)
    assert not (tmp_path / "run" / "metrics.json").exists()


REGEXES = [
    *("weight", "^weight", "mix", "mix.weights$", "scalar_parameters", "^0", "0"),
    *("encoder", "^encoder.0.bias$", "encoder.1", "gamma|bias", "gama", ".*", "^$"),
]


def module(trained: list[bool]) -> nn.Module:
    """Its parameters are 1; some are not trained."""
    mix = nn.ParameterDict(
        {"weights": nn.Parameter(torch.ones(3)), "gamma": nn.Parameter(torch.ones(()))}
    )
    made = nn.ModuleDict({"encoder": nn.ModuleList([nn.Linear(2, 2)]), "mix": mix})
    for parameter, is_trained in zip(made.parameters(), trained, strict=True):
        nn.init.ones_(parameter)
        parameter.requires_grad_(is_trained)
    return made


@settings(deadline=None, max_examples=100)
@given(
    regex=st.sampled_from(REGEXES),
    prevented=st.sampled_from([*REGEXES, None]),
    trained=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_a_problem_is_what_has_no_effect(
    regex: str, prevented: str | None, trained: list[bool]
) -> None:
    """On AllenNLP's applicators."""
    penalty = RegularizerApplicator([(regex, L2Regularizer(0.1))])(module(trained))
    config = {"model": {"regularizer": {"regexes": [[regex, L2]]}}}
    assert bool(regex_problems(config, module(trained))) == (penalty == 0)

    changed = module(trained)
    prevent = None if prevented is None else [prevented]
    InitializerApplicator([(regex, ConstantInitializer(7.0))], prevent)(changed)
    has_effect = any((values == 7).all() for values in changed.parameters())
    options = {"regexes": [[regex, ONES]], "prevent_regexes": prevent}
    problems = regex_problems({"model": {"initializer": options}}, module(trained))
    assert bool(problems) != has_effect
