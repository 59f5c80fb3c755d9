"""The callback that reports a training to Weights & Biases."""

from importlib import import_module
from typing import Any
from uuid import uuid4

from allennlp.training.callbacks import TrainerCallback, WandBCallback

from elmo_tasks.errors import needs


@TrainerCallback.register("elmo_tasks_wandb")
class WeightsAndBiases(WandBCallback):
    """
    AllenNLP's callback `wandb`, for today's versions of the package wandb.

    AllenNLP's own calls `wandb.util.generate_id`, which wandb has removed, for the id
    of the run. Here the id is made before. A resumed training continues its run.

    # Parameters

    - `project`: its name there.
    - `entity`: the user or team that it belongs to; null: that of your account.
    - `group`: a name that runs share.
    - `name`: the name of the run; null: a random one.
    - `notes`: a description.
    - `tags`: labels of the run.
    - `watch_model`: if true, report histograms of gradients.
    - `files_to_save`: files of the run's folder that are uploaded.
    - `wandb_kwargs`: more arguments of `wandb.init`.
    - `summary_interval`: report the loss and the statistics every so many batches.
    - `should_log_parameter_statistics`: if true, means and deviations of the parameters
      and gradients.
    - `should_log_learning_rate`: if true, the learning rates.
    - `distribution_interval`: report histograms of the parameters every so many
      batches; null: never.
    - `batch_size_interval`: report the size of batches every so many; null: never.

    Raises `InputError` if the package is missing.
    """

    def __init__(self, serialization_dir: str, **options: Any) -> None:
        super().__init__(serialization_dir, **options)
        with needs("'wandb>=0.16'"):
            import_module("wandb")
        self._run_id = uuid4().hex[:8]
        del self._wandb_kwargs["anonymous"]  # without effect, and soon an error
