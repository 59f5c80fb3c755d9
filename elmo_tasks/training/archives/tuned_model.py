"""
`"model": {"type": "from_archive", "archive_file": ...}` in a config: a training that
begins with a trained model.
"""

import json
from typing import Any, Optional

from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from overrides import overrides

from elmo_tasks.settings import PathLike, checked
from elmo_tasks.system.run_names import CONFIG
from elmo_tasks.training.archives.contents import FROM_ARCHIVE, unpacked
from elmo_tasks.training.archives.loading import load_archive
from elmo_tasks.training.vocabulary import label_counts, require_no_new_labels


@Model.register(FROM_ARCHIVE, constructor="from_archive", exist_ok=True)
class TunedModel(Model):
    """AllenNLP's `from_archive`, whose archive is opened as any archive of somebody."""

    @classmethod
    @checked
    @overrides(check_signature=False)
    def from_archive(
        cls,
        archive_file: PathLike,
        vocab: Optional[Vocabulary] = None,
        model: Optional[dict[str, Any]] = None,
        allow_downloads: bool = False,
    ) -> Model:
        """
        The model of an archive. Its vocabulary keeps its ids and is extended by the new
        words of `vocab`, which then has the same contents: it is the one that is saved.

        # Parameters

        - `archive_file`: a trained model, `model.tar.gz` or the folder of a run.
        - `vocab`: passed by AllenNLP.
        - `model`: the config of the model in the archive. `elmo-tasks train` writes it,
          so that the new archive does not need the first.
        - `allow_downloads`: whether to fetch what the archive names and lacks.

        Raises `InputError` if `vocab` has labels that the model does not have, and as
        `load_archive` does.
        """
        trained = load_archive(archive_file, allow_downloads=allow_downloads).model
        if vocab is not None:
            counts = label_counts(trained.vocab)
            trained.vocab.extend_from_vocab(vocab)
            require_no_new_labels(trained.vocab, counts)
            trained.extend_embedder_vocab()
            vocab.__dict__.update(trained.vocab.__dict__)
        return trained


def write_own_config(params: Params) -> None:
    """
    Writes the config of the model in an archive next to the archive's name, if a config
    trains it further.
    """
    model = params.params.get("model")
    if not isinstance(model, dict) or model.get("type") != FROM_ARCHIVE:
        return
    if model.get("model") is None and "archive_file" in model:
        with unpacked(model["archive_file"]) as folder:
            model["model"] = json.loads((folder / CONFIG).read_text("utf-8"))["model"]
