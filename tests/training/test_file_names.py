"""Whatever name a file has, a config can name it."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from allennlp.common import Params
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.run import train
from tests.archives.make import config
from tests.tiny import bilm_files, write_vectors

TEXT = "Mira B-PER\nsold O\nferries O\n\nOakes B-PER\nsold O\n"
MODULES = ["test", "json", "os", "os.path", "torch.nn", "antigravity", "__main__", "x"]
ENDINGS = ["", ".", ".py", ".vec", ".txt", ".load", " (1).txt", "ß.txt", ".Popen"]
CHARACTERS = st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="/\0")
NAMES = st.one_of(
    st.tuples(st.sampled_from(MODULES), st.sampled_from(ENDINGS)).map("".join),
    st.text(CHARACTERS, min_size=1, max_size=20),
)


@pytest.mark.slow
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(name=NAMES)
@example(name="test.vec")
@example(name="json")
@example(name="os.system")
@example(name="a *[b]? 'c' \"d\" ~ ~user $HOME {x} %s #")
def test_a_config_with_a_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of data, vectors, biLM and cache, in the current folder."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.chdir(folder)
        here = Path(folder)
        made = {"vectors": f"{name}.v", "cache_dir": f"{name}.cache"}
        made |= {"options_file": f"{name}.json", "weight_file": f"{name}.hdf5"}
        bilm = bilm_files(here / "bilm")
        for key in ("options_file", "weight_file"):
            os.replace(bilm[key], here / made[key])
        write_vectors(here / made["vectors"], ["Mira", "sold"], width=3)
        (here / f"{name}.data").write_text(TEXT)
        stated = config("ner", here / "other")
        for key in ("train_data_path", "validation_data_path"):
            stated[key] = f"{name}.data"
        stated["dataset_reader"]["tag"] = 1
        stated["trainer"]["num_epochs"] = 1
        for key in ("options_file", "weight_file", "cache_dir"):
            stated["model"]["elmo"][key] = made[key]
        stated["model"]["elmo"]["archive"] = False
        words = stated["model"]["text_field_embedder"]["token_embedders"]["tokens"]
        words |= {"pretrained_file": made["vectors"], "lookup_file": made["vectors"]}
        stated["dataset_reader"]["lookup_files"] = [made["vectors"]]
        train(Params(stated), here / "run")
        scores = json.loads((here / "run" / "metrics.json").read_text())
        found = score(load_archive(here / "run" / "model.tar.gz"), f"{name}.data")
        assert found["loss"] == pytest.approx(scores["best_validation_loss"], rel=1e-5)
        monkeypatch.undo()
