"""
A process of a distributed training on one machine. The module is light: AllenNLP must
be made importable first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elmo_tasks.host import load_allennlp


@dataclass(frozen=True)
class WorkerJob:
    """
    What all processes of a training get. Plain data: a new process reads it before it
    can import AllenNLP.
    """

    config: Mapping[str, Any]
    folder: str
    packages: Sequence[str]
    port: int  # of the first process
    devices: Sequence[int]  # one for each process
    included: Sequence[str] | None  # `include_in_archive`
    options: Mapping[str, Any]  # of `distributed`


def train_in_worker(rank: int, job: WorkerJob) -> None:
    """Takes part in a training, as process `rank`."""
    load_allennlp()
    from allennlp.commands.train import _train_worker
    from allennlp.common import Params

    _train_worker(
        rank,
        Params(dict(job.config)),
        job.folder,
        ["elmo_tasks.plugin", *job.packages],
        primary_addr="127.0.0.1",
        primary_port=job.port,
        world_size=len(job.devices),
        distributed_device_ids=list(job.devices),
        include_in_archive=job.included,
        distributed_params=Params(dict(job.options)),
    )
