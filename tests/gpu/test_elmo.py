"""Frozen sources of layers on a GPU: vectors, caches and mixes are those of the CPU."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from tests.elmo.samples import BATCHES, SENTENCES, write_bilm
from tests.elmo.sources.transformer_samples import ARCHITECTURES, write_transformer
from tests.gpu.test_models import losses_of_both
from tests.tiny import bilm_files

IDS = batch_to_ids(SENTENCES)

SOURCES: dict[str, dict[str, Any]] = {
    "biLM": {},
    "carry": {"state": "carry"},
    "bfloat16": {"precision": "bfloat16"},
    "cached": {"cache_dir": "cache"},
    "archived": {"archive": True},
    "transformer": {"source": "transformer", "model": "bert"},
    "cached transformer": {
        "source": "transformer",
        "model": "bert",
        "cache_dir": "cache",
    },
}
"""Keys of `model.elmo`; folders stand for those of `settings`."""

for_all_sources = pytest.mark.parametrize("source", SOURCES)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return bilm_files(tmp_path_factory.mktemp("bilm"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_transformer(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def settings(
    source: str, files: dict[str, str], bert: str, tmp_path: Path
) -> dict[str, Any]:
    folders = {"cache_dir": str(tmp_path / "cache"), "model": bert}
    keys = files | SOURCES[source]
    for key, folder in folders.items():
        if key in keys:
            keys[key] = folder
    return keys


def assert_near(found: torch.Tensor, expected: torch.Tensor, source: str) -> None:
    """Products in bfloat16 are rounded otherwise, and a cache keeps float16."""
    if source == "bfloat16":
        similarity = torch.cosine_similarity(found.flatten(), expected.flatten(), 0)
        assert similarity > 0.999
        return
    tolerance = 2e-3 if "cached" in source else 1e-4
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)


@for_all_sources
def test_layers_of_consecutive_batches(
    source: str, settings: dict[str, Any], gpu: torch.device
) -> None:
    on_cpu = ElmoTokenEmbedder.open(**settings)
    on_cpu.frozen.cache = None
    elmo = nn.Sequential(ElmoTokenEmbedder.open(**settings)).to(gpu)[0].train()
    for batch in BATCHES + BATCHES[1:]:  # also what a cache has by now
        ids = batch_to_ids(batch)
        expected = on_cpu.layers(ids)
        layers, mask = elmo.layers(ids.to(gpu))
        assert layers.device == mask.device == gpu
        assert_near(layers.cpu(), expected.layers, source)
        assert torch.equal(mask.cpu(), expected.mask)


@for_all_sources
def test_frozen_layers_do_not_depend_on_autocast(
    source: str, settings: dict[str, Any], gpu: torch.device
) -> None:
    found = []
    for enabled in (False, True):
        elmo = ElmoTokenEmbedder.open(**settings).to(gpu)
        with torch.autocast(gpu.type, dtype=torch.float16, enabled=enabled):
            found.append(elmo.layers(IDS.to(gpu)).layers.cpu())
    assert torch.equal(found[0], found[1])


@for_all_sources
@pytest.mark.parametrize("at", ["input", "output", "both"])
def test_models_train_with_each_place_and_source(
    at: str, source: str, settings: dict[str, Any], tmp_path: Path, gpu: torch.device
) -> None:
    keys = {**settings, "at": at, "l2": 0.1, "dropout": 0.0}
    found, expected = losses_of_both("tagger", tmp_path, keys, gpu, count=2)
    rel = 1e-2 if source == "bfloat16" else 1e-4
    assert found == pytest.approx(expected, rel=rel)


def test_a_cache_serves_both_devices(
    files: dict[str, str], tmp_path: Path, gpu: torch.device
) -> None:
    keys = {**files, "cache_dir": tmp_path / "cache"}
    first = ElmoTokenEmbedder.open(**keys).to(gpu).train().layers(IDS.to(gpu))
    assert first.layers.device == first.mask.device == gpu
    elmo = ElmoTokenEmbedder.open(**keys).train()
    elmo.source.register_forward_hook(lambda *_: pytest.fail("it computed"))
    assert torch.equal(elmo.layers(IDS).layers, first.layers.cpu())
    elmo.to(gpu)
    assert torch.equal(elmo.layers(IDS.to(gpu)).layers.cpu(), first.layers.cpu())


def test_states_follow_the_model(files: dict[str, str], gpu: torch.device) -> None:
    """Those of a checkpoint are on the CPU."""
    on_cpu = ElmoTokenEmbedder.open(**files, state="carry")
    elmo = ElmoTokenEmbedder.open(**files, state="carry")
    for batch in BATCHES[:2]:
        on_cpu.layers(batch_to_ids(batch))
    elmo.layers(batch_to_ids(BATCHES[0]))
    elmo.to(gpu)
    elmo.layers(batch_to_ids(BATCHES[1]).to(gpu))
    for direction, expected in on_cpu.carried_states().items():
        for own, theirs in zip(elmo.carried_states()[direction], expected, strict=True):
            for tensor, other in zip(own, theirs, strict=True):
                assert tensor.device == gpu
                torch.testing.assert_close(tensor.cpu(), other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_transformers(architecture: str, tmp_path: Path, gpu: torch.device) -> None:
    model = write_transformer(tmp_path, architecture)
    elmo = ElmoTokenEmbedder.open(source="transformer", model=model, mix="weighted")
    ids = batch_to_ids([SENTENCES[0], SENTENCES[1], ["of", "x" * 40], []])
    expected = elmo(ids)
    found = elmo.to(gpu)(ids.to(gpu))
    assert found.device == gpu
    atol = 1e-3 if gpu.type == "cuda" else 1e-4  # CUDA's sums have another order
    torch.testing.assert_close(found.cpu(), expected, atol=atol, rtol=1e-4)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("layers", ["all", "top", "average", 0])
def test_vectors_of_sentences(
    layers: Any, precision: str, tmp_path: Path, gpu: torch.device
) -> None:
    files = write_bilm(tmp_path)
    on_cpu = Elmo.from_files(*files, device="cpu")
    elmo = Elmo.from_files(*files, device=str(gpu), precision=precision)
    assert str(gpu) in repr(elmo)
    pairs = zip(
        elmo.embed(SENTENCES, layers=layers),
        on_cpu.embed(SENTENCES, layers=layers),
        strict=True,
    )
    for found, expected in pairs:
        source = "biLM" if precision == "float32" else precision
        if found.size:
            assert_near(torch.from_numpy(found), torch.from_numpy(expected), source)


def test_cached_vectors_files_and_static_vectors(
    files: dict[str, str], tmp_path: Path, gpu: torch.device
) -> None:
    words, written = ["a", "one"], []
    static = []
    for device in ("cpu", str(gpu), str(gpu)):
        elmo = Elmo.from_files(
            **files,
            device=device,
            cache_dir=tmp_path / "cache",
            max_length=3,
            overlap=1,
        )
        out = tmp_path / f"{len(written)}.hdf5"
        lines = [(1, "a one <S>"), (2, "The harbour froze over .")]
        elmo.write(lines, out, settings={})
        with ElmoVectors(out) as vectors:
            written.append(list(vectors))
        static.append(elmo.mean_vectors(SENTENCES, words, layers="top"))
    for found in written[1:]:
        for one, expected in zip(found, written[0], strict=True):
            assert one == pytest.approx(expected, abs=2e-3)
    for one in static[1:]:
        assert one == pytest.approx(static[0], abs=2e-3)
