"""`check` fetches nothing: what is not on this machine is not constructed."""

import json

import pytest

from elmo_tasks.cli.check import check_config
from tests.tiny import ROOT
from tests.web_server import serving

REMOTE = {
    "a URL": {"model": "URL/x.zip"},
    "two URLs": {"options_file": "URL/o.json", "weight_file": "URL/w.hdf5"},
    "a model of the hub": {"model": "hf://owner/name"},
    "a name of the hub": {"source": "transformer", "model": "owner/name"},
}


@pytest.mark.parametrize("name", REMOTE)
def test_check_fetches_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)
        elmo = {}
        for key, value in REMOTE[name].items():
            elmo[key] = value.replace("URL", f"{server.address}/sound")
        overrides = json.dumps({"model.elmo": elmo})
        check_config(ROOT / "training_config/mini/ner_elmo.jsonnet", overrides)
        assert not server.requests
