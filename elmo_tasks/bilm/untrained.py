"""A biLM without training, for control experiments."""

from pathlib import Path

import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import Format, written_names
from elmo_tasks.settings import PathLike, Seed, checked


@checked
def write_untrained(
    folder: PathLike,
    options_file: PathLike,
    *,
    seed: Seed = 1,
    chosen: Format = "hdf5",
) -> list[Path]:
    """
    Write a biLM with the weights that a training of these options would start from,
    and return the paths of its options and weights. The same seed gives the same
    weights. Raises `InputError` if the options are wrong or the folder has files.
    """
    out = Path(folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("expected a new or empty folder for the biLM", file=out)
    options = BiLMOptions.from_file(options_file)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        bilm = BiLM(options)
    names = written_names(chosen)
    paths = [out / names["options_file"], out / names["weight_file"]]
    out.mkdir(parents=True, exist_ok=True)
    bilm.save_files(*paths)
    return paths
