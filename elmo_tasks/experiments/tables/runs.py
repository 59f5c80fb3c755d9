"""
Step 2: rows -> runs. A run is a row with a seed; its folder is named after the hash of
everything it depends on.
"""

import copy
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.params import with_overrides

from elmo_tasks.errors import InputError, one_line
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.table import ASIDE, PASSES, Row, Table
from elmo_tasks.system.files import exclusive
from elmo_tasks.system.run_names import EXPORTED, MODEL, MODEL_COPIES, MODEL_RECORD
from elmo_tasks.training import config as configs
from elmo_tasks.training.checks.construct import check
from elmo_tasks.training.checks.training import is_ours
from elmo_tasks.training.config import SEEDS, differences, spread_seed, write_out_types
from elmo_tasks.training.folder import DATA_PATHS, absolute

HASH_DIGITS = 12


@dataclass(frozen=True)
class Run:
    """
    A row with a seed, and its plan, which is everything that decides the result:
    `config`, resolved and seeded; `cached`, whether the biLM's layers are cached on
    disk (rounded to float16); `file`, evaluated instead of the validation data;
    `finetune`; and the hashes of the runs that it needs: `bilm_of`, or those of the
    members of an `ensemble`. `home` contains its folder; `packages` are imported before it
    is executed.
    """

    row: Row
    seed: int
    plan: dict[str, Any] = field(repr=False)
    home: Path
    packages: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The hash of the plan."""
        return digest_of(self.plan)

    @property
    def folder(self) -> Path:
        """
        The folder of the run with this hash, if another table has begun it; else named
        after the row.
        """
        found = find_folder(self.home, self.digest)
        if found is not None:
            return found
        seed = "" if self.row.once else f"-{self.seed}"
        return self.home / f"{self.row.name}{seed}-{self.digest}"

    def prepare(self) -> None:
        """
        Write the plan to the folder, in place of the failure of an earlier attempt.
        Raises `Held` if another process executes the run, and `InputError` if it cannot
        write.
        """
        about = {
            "row": self.row.name,
            "seed": self.seed,
            "split": self.row.split,
            "packages": self.packages,
        }
        with exclusive(self.folder):
            if not run_dir.is_finished(self.folder):  # by another call
                run_dir.write_json(self.folder / run_dir.RESULT, about | self.plan)

    @property
    def after(self) -> list[str]:
        """The hashes of the runs that it needs."""
        needed = [self.plan["bilm_of"], *(self.plan["ensemble"] or [])]
        return [digest for digest in needed if digest]

    @property
    def label(self) -> str:
        """The row's name and the seed, if it has several."""
        return self.row.name if self.row.once else f"{self.row.name}, seed {self.seed}"


class Planner:
    """
    Plan the runs of a table.

    # Parameters

    - `home`: the folder of the runs' folders. Tables that share it share runs.
    - `cached`: whether rows with ELMo cache the biLM's layers on disk, if their config
      allows it and names no `cache_dir`.
    - `packages`: imported by the runs, which use what these register.

    Raises `InputError` if a row's config cannot be read, or its changes or seeds are
    invalid. Rows with missing files are not checked.
    """

    def __init__(
        self,
        table: Table,
        home: Path,
        *,
        cached: bool = True,
        packages: Iterable[str] = (),
    ) -> None:
        self.table = table
        self.home = home
        self._cached = cached
        self._packages = tuple(packages)
        self.bases: dict[str, dict[str, Any]] = {}
        self.resolved: dict[str, dict[str, Any]] = {}
        self._configs: dict[Path, dict[str, Any]] = {}
        for row in table.rows:
            if not row.missing:
                try:
                    self._resolve(row)
                except (RuntimeError, ValueError, KeyError) as error:
                    problem = f"row {row.name}: {one_line(error) or error}"
                    raise InputError(problem, hint=f"table {table.title}") from None

    def runs(self, rows: Iterable[Row], seeds: int) -> list[Run]:
        """
        The runs of these rows with the seeds 1 to `seeds`, each once and after the runs
        that it needs. Rows with missing files have none.
        """
        found: dict[str, Run] = {}
        for row in rows:
            for seed in row.seeds(seeds):
                for run in self._with_others(row, seed):
                    found.setdefault(run.digest, run)
        return list(found.values())

    def run(self, row: Row, seed: int) -> Run:
        """A run of a row without missing files."""
        return Run(row, seed, self._plan(row, seed), self.home, self._packages)

    def is_missing(self, row: Row) -> bool:
        """Whether files are missing that this row or the rows that it needs need."""
        needed = [row] + [self.table.row(name) for name in row.others]
        return any(one.missing for one in needed)

    def differences(self, row: Row) -> list[str]:
        """What a row changes in its base config, a line for each key."""
        return differences(self.bases[row.name], self.resolved[row.name])

    def check(self, rows: Iterable[Row]) -> None:
        """
        Construct the configs of these rows, as `elmo-tasks check` does. Raises
        `InputError` for an invalid one, and for a metric that its evaluation does not
        have.
        """
        metrics: dict[str, Collection[str]] = {}
        for row in rows:
            config = _seeded(self.resolved[row.name], 1)
            digest = digest_of(config)
            problems: list[str] = []
            if digest not in metrics:
                found = check(config)
                problems = found.problems
                metrics[digest] = found.metrics
            problems += _unknown_metric(row, config, metrics[digest])
            if problems:
                problem = f"row {row.name}: {'; '.join(problems)}"
                raise InputError(problem, hint=f"table {self.table.title}")

    def _with_others(self, row: Row, seed: int) -> Iterator[Run]:
        if self.is_missing(row):
            return
        if row.bilm_of:
            yield self.run(self.table.row(row.bilm_of), 1)
        if row.ensemble is not None:
            for member in row.ensemble.seeds:
                yield self.run(self.table.row(row.ensemble.of), member)
        yield self.run(row, seed)

    def _resolve(self, row: Row) -> None:
        if not row.config.is_file():
            hint = "name a file, relative to the table or this folder, or a config that `elmo-tasks configs` lists"
            raise InputError(f"no such config: {row.config}", hint=hint)
        if row.config not in self._configs:
            self._configs[row.config] = read_config(row.config)
        base = self._configs[row.config]
        config = _spread(with_overrides(base, row.changes))
        self.bases[row.name] = _spread(base)
        self.resolved[row.name] = config
        if row.bilm_of and elmo_of(config) is None:
            raise InputError(
                "bilm_of needs a config with model.elmo, which uses the tuned biLM"
            )
        if row.ensemble is not None:
            member = self.table.row(row.ensemble.of)
            if (member.config, member.changes) != (row.config, row.changes):
                problem = "an ensemble must have the same config as its members"
                raise InputError(f"{problem}, row {member.name}")
            if configs.get(config, "data_loader.share") is not None:
                raise InputError(
                    "an ensemble's members must read the same data",
                    hint="data_loader.share draws others for each seed",
                )

    def _plan(self, row: Row, seed: int) -> dict[str, Any]:
        config = _seeded(self.resolved[row.name], seed)
        for key in (*DATA_PATHS, "model"):
            config = with_overrides(config, absolute(key, config.get(key)))
        plan: dict[str, Any] = {
            "config": config,
            "cached": self._cached and is_cacheable(config),
            "file": absolute("file", row.file).get("file", row.file),
            "finetune": row.finetune,
            "bilm_of": None,
            "ensemble": None,
        }
        if row.bilm_of:
            plan["bilm_of"] = self._digest(row.bilm_of, 1)
        if row.ensemble is not None:
            plan["ensemble"] = [
                self._digest(row.ensemble.of, member) for member in row.ensemble.seeds
            ]
        return plan

    def _digest(self, name: str, seed: int) -> str:
        """The hash of a run of the row with this name."""
        return digest_of(self._plan(self.table.row(name), seed))


def _seeded(config: dict[str, Any], seed: int) -> dict[str, Any]:
    """
    The config with the seed in AllenNLP's three keys, and as that of the sample if it
    trains on a share of the data.
    """
    keys = dict.fromkeys(SEEDS, seed)
    if configs.get(config, "data_loader.share") is not None:
        keys["data_loader.share_seed"] = seed
    return with_overrides(config, keys)


def _unknown_metric(
    row: Row, config: dict[str, Any], known: Collection[str]
) -> Iterator[str]:
    """
    The metric of a row, if it is none of the evaluation of one of our models, and that
    is known; other models may have some only at times. A label, as in `f1-PER`, may be
    one that the first instances lack.
    """
    part = configs.get(config, "data_loader.part")
    if row.metric.startswith(ASIDE) and part in (None, [0, 1]):
        yield f"metric: {row.metric} needs a data_loader.part that leaves a rest"
    name = row.metric.removeprefix(ASIDE)
    if not known or row.finetune or name == PASSES or not is_ours(config):
        return
    parts = {part for one in known for part in one.split("-")}
    names = ", ".join(sorted([one for one in known if "-" not in one]))
    first, *labels = name.split("-")
    is_of_label = bool(labels) and bool(parts.intersection((first, labels[-1])))
    if name not in known and not is_of_label:
        yield f"metric: expected one of {names}, got {row.metric}"


def _spread(config: dict[str, Any]) -> dict[str, Any]:
    """
    The config with AllenNLP's three keys in place of `seed`, and objects in place of
    names of classes, as `config.json` of a training has them.
    """
    params = Params(copy.deepcopy(config))
    spread_seed(params)
    write_out_types(params.params)
    return params.as_dict(quiet=True)


def read_config(path: Path) -> dict[str, Any]:
    """
    The resolved config, without the members that every archive of `train` has: the hash
    of a run does not depend on them. Raises `InputError` as for `train`.
    """
    config: dict[str, Any] = configs.read_config(path).as_dict(quiet=True)
    if config.get("include_in_archive") == [MODEL_RECORD, MODEL_COPIES]:
        del config["include_in_archive"]
    return config


def digest_of(plan: dict[str, Any]) -> str:
    """The hash of a plan; the order of keys does not matter."""
    canonical = json.dumps(plan, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:HASH_DIGITS]


def find_folder(home: Path, digest: str) -> Path | None:
    """
    The folder of the run with this hash; another table may have another name for its
    row.
    """
    folders = sorted(home.glob(f"*-{digest}"))
    for folder in folders:
        if run_dir.is_finished(folder):
            return folder
    return folders[0] if folders else None


def needed_folder(home: Path, digest: str) -> Path:
    """The same. Raises `InputError` if there is none."""
    folder = find_folder(home, digest)
    if folder is None:
        raise InputError(f"the run {digest} that this one needs is missing", file=home)
    return folder


def elmo_of(config: dict[str, Any]) -> dict[str, Any] | None:
    """The object `model.elmo` of a config, if any."""
    elmo = configs.get(config, "model.elmo")
    return elmo if isinstance(elmo, dict) else None


def is_cacheable(config: dict[str, Any]) -> bool:
    """
    Whether the layers of the config's biLM can be cached on disk, see
    `ElmoTokenEmbedder`.
    """
    elmo = elmo_of(config)
    if elmo is None or elmo.get("cache_dir") is not None:
        return False
    return elmo.get("state", "reset") == "reset" and elmo.get("layer_norm") != "batch"


def cache_folder(home: Path) -> Path:
    """The folder of the layer cache of the runs in a folder."""
    return home / "layers"


def runnable(plan: dict[str, Any], home: Path) -> dict[str, Any]:
    """
    A plan's config with the paths of the layer cache and of the tuned biLM, which are
    not part of the hash.
    """
    paths = {}
    if plan["cached"]:
        paths["cache_dir"] = str(cache_folder(home))
    if plan["bilm_of"]:
        paths["model"] = str(needed_folder(home, plan["bilm_of"]) / MODEL / EXPORTED)
    config = copy.deepcopy(plan["config"])
    elmo = elmo_of(config)
    if elmo is not None:
        elmo.update(paths)
    return config
