"""`model.safetensors` and `config.json`: the same bits, and invalid files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from elmo_tasks.bilm import BiLM, BiLMOptions, batch_to_ids
from elmo_tasks.elmo.models.files import resolve
from elmo_tasks.errors import InputError
from tests.elmo.samples import SENTENCES, mismatches, options, random_bilm, write_bilm
from tests.system import require_path

NAMES = ("config.json", "model.safetensors")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The biLM of `write_bilm` in the other format."""
    folder = tmp_path / "safe"
    folder.mkdir()
    paths = str(folder / NAMES[0]), str(folder / NAMES[1])
    random_bilm().save_files(*paths)
    return paths


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_layers_have_the_same_bits(
    files: tuple[str, str], tmp_path: Path, packed: bool, precision: str
) -> None:
    ids = batch_to_ids(SENTENCES)
    settings = {"precision": precision, "packed": packed}
    expected = BiLM.from_files(*write_bilm(tmp_path), **settings)
    found = BiLM.from_files(*files, **settings)
    assert found.is_packed == expected.is_packed
    assert torch.equal(found(ids).layers, expected(ids).layers)


def test_a_round_trip_through_both_formats(
    files: tuple[str, str], tmp_path: Path
) -> None:
    bilm = BiLM.from_files(*files, packed=True)
    bilm.save_files(tmp_path / "o.json", tmp_path / "w.hdf5")
    weights = (tmp_path / "w.hdf5").rename(tmp_path / "w.safetensors")
    again = BiLM.from_files(tmp_path / "o.json", weights)  # by what it contains
    again.save_files(*[tmp_path / name for name in NAMES])
    for name, file in zip(NAMES, files, strict=True):
        assert (tmp_path / name).read_bytes() == Path(file).read_bytes()
    state = random_bilm().state_dict()
    assert load_file(files[1]).keys() == state.keys()
    assert json.loads(Path(files[0]).read_text())["model_type"] == "elmo"


def test_rounded_weights_are_those_of_the_official_file(tmp_path: Path) -> None:
    pairs = ("o.json", "w.hdf5"), NAMES
    for pair in pairs:
        random_bilm().save_files(*[tmp_path / name for name in pair], mantissa_bits=3)
    found, expected = [
        BiLM.from_files(*[tmp_path / name for name in pair]) for pair in pairs
    ]
    for one, other in zip(found.parameters(), expected.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_types_of_floats(files: tuple[str, str], dtype: torch.dtype) -> None:
    state = {name: tensor.to(dtype) for name, tensor in load_file(files[1]).items()}
    save_file(state, files[1])
    for name, parameter in BiLM.from_files(*files).named_parameters():
        assert torch.equal(parameter, state[name].float())


def test_every_problem_is_listed_at_once(files: tuple[str, str]) -> None:
    state = load_file(files[1])
    del state["token_encoder.projection.bias"]
    state["token_encoder.characters"] = torch.zeros(261, 3)
    state["forward_stack.layers.0.bias"][3] = torch.inf
    state["backward_stack.layers.1.bias"] = torch.full(
        (48,), 1e300, dtype=torch.float64
    )
    state["backward_stack.layers.0.bias"] = torch.zeros(48, dtype=torch.int8)
    state["more"] = torch.zeros(2, 3)
    save_file(state, files[1])
    assert mismatches(files) == [
        "missing: token_encoder.projection.bias (6,)",
        "not finite numbers: backward_stack.layers.1.bias (F64)",
        "not finite numbers: forward_stack.layers.0.bias (F32)",
        "unused: more (2, 3)",
        "wrong shape: token_encoder.characters: expected (261, 4), got (261, 3)",
        "wrong type: backward_stack.layers.0.bias: expected floats, got I8",
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1],
        lambda content: content[:9],
        lambda content: content[:40] + b"\0" + content[41:],
    ],
)
def test_damaged_files(files: tuple[str, str], change: object) -> None:
    assert callable(change)
    Path(files[1]).write_bytes(change(Path(files[1]).read_bytes()))
    problem = r"model.safetensors: cannot read .* as safetensors: .*is the download com"
    with pytest.raises(InputError, match=problem) as error:
        BiLM.from_files(*files)
    assert "\n" not in str(error.value)


READING = """
import json
import sys
from pathlib import Path

from elmo_tasks.bilm import BiLM
from elmo_tasks.elmo import Elmo
from tests.memory import grown, release


def characters_read():
    lines = Path("/proc/self/io").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("rchar")]
    return int(line.split()[1])


BiLM.from_files(*sys.argv[1:])  # the first time, parts of the libraries are read, too
found = {}
release()
before = characters_read()
with grown() as peak:
    bilm = BiLM.from_files(*sys.argv[1:])
found["read by the biLM"] = characters_read() - before
found["peak"] = peak[0]
del bilm
before = characters_read()
elmo = Elmo.from_files(*sys.argv[1:])
found["read by Elmo"] = characters_read() - before
found["dim"] = elmo.layers.output_dim
print(json.dumps(found))
"""


def test_weights_are_read_once_and_not_held_twice(tmp_path: Path) -> None:
    """
    `Elmo` reads the file for its digest, by `read`. It maps the file into memory for
    its values, and copies one layer at a time. This runs in a new process, since
    memory that other tests have freed would be counted, too.
    """
    require_path("/proc/self/io", "/proc/self/clear_refs")
    wide = options(dim=2048, projection_dim=128)
    paths = [tmp_path / name for name in NAMES]
    BiLM(wide).save_files(*paths)
    size = paths[1].stat().st_size
    assert size > 30_000_000
    command = [sys.executable, "-c", READING, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["read by the biLM"] < 0.01 * size
    # The parameters, and the pages of the file, which are the system's; three times the
    # size if the values were held twice.
    assert found["peak"] < 2.5 * size
    assert size <= found["read by Elmo"] < 1.01 * size
    assert found["dim"] == 256


def test_memory_does_not_belong_to_the_file(files: tuple[str, str]) -> None:
    """A file that is written anew, or truncated, does not change an opened biLM."""
    bilm = BiLM.from_files(*files)
    before = bilm(batch_to_ids(SENTENCES)).layers
    size = Path(files[1]).stat().st_size
    with Path(files[1]).open("r+b") as file:
        file.write(b"\0" * size)
        file.truncate(10)
    assert torch.equal(bilm(batch_to_ids(SENTENCES)).layers, before)


def test_the_other_options_of_a_folder_are_not_those_of_its_weights(
    files: tuple[str, str],
) -> None:
    folder = Path(files[0]).parent
    (folder / "options.json").write_text("{}")
    assert resolve(folder).paths["options_file"] == folder / NAMES[0]
    assert BiLMOptions.from_file(folder / NAMES[0]) == options()
