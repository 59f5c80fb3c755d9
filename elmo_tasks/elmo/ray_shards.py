"""Write shards on a Ray cluster: Ray Data gives their descriptions to a pool of actors, each of which keeps a biLM."""

import json
import logging
import pickle
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from elmo_tasks.elmo.shards import Row, Shard, ShardJob, ShardWriter
from elmo_tasks.errors import InputError
from elmo_tasks.ray_cluster import connected

RETRIES = 3
"""How often an actor is restarted after its node or process was lost."""

ATTEMPTS = 100
"""How often a shard is sent to an actor again: until Ray knows that a node is lost, each attempt fails at once."""

_ERROR = re.compile(r"^(?:\w+\.)*\w+Error: .+$", re.MULTILINE)


def run_on_ray(
    job: ShardJob,
    shards: Sequence[Shard],
    *,
    workers: int | None = None,
    address: str | None = None,
) -> Iterator[Row]:
    """
    Write shards on the cluster at `address`, see `connected`, by at most `workers` actors, each with `job.threads`
    CPUs, and a GPU if `job.elmo` is on one. Only descriptions of shards pass through the cluster.

    Raises `InputError` if a shard cannot be written, or an actor was lost more than `RETRIES` times.
    """
    with connected(address) as ray:
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        descriptions = [{"shard": json.dumps(asdict(shard))} for shard in shards]
        with warnings.catch_warnings(
            action="ignore", category=ray.util.annotations.RayDeprecationWarning
        ):
            # Up to Ray 2.63 only `ray_remote_args` bound the retries, which are endless by default.
            rows = ray.data.from_items(
                descriptions, override_num_blocks=len(shards)
            ).map_batches(
                _Actor,
                fn_constructor_args=[pickle.dumps(job)],
                batch_size=1,
                compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
                num_cpus=job.threads,
                num_gpus=1 if job.elmo.layers.device.type == "cuda" else None,
                max_restarts=RETRIES,
                max_task_retries=ATTEMPTS,
            )
        try:
            for row in map(json.loads, (row["row"] for row in rows.iter_rows())):
                if "error" in row:
                    raise InputError(row["error"])
                yield row
        except ray.exceptions.RayError as error:
            problems = _ERROR.findall(str(error)) or str(error).splitlines()
            raise InputError(
                f"a worker on Ray failed: {problems[-1]}",
                hint="the same command resumes",
            ) from error


class _Actor:
    """Writes the shard of a batch. Errors of the user are rows, since Ray would retry them."""

    def __init__(self, job: bytes) -> None:
        self._writer = ShardWriter(partial(pickle.loads, job))

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        description = json.loads(batch["shard"][0])
        try:
            row = self._writer.write(
                Shard(**{**description, "files": tuple(description["files"])})
            )
        except InputError as error:
            row = {"error": str(error)}
        return {"row": [json.dumps(row)]}
