"""
Typical mistakes in configs: a config, what its user changes, and the key that an error
has to name.
"""

from typing import Any, NamedTuple

from elmo_tasks.resources import fixtures_root

CORPUS = fixtures_root() / "miniworld"
NER = str(CORPUS / "ner" / "eng.train")
SST = str(CORPUS / "sst" / "train.txt")
SQUAD = str(CORPUS / "squad" / "train-v1.1.json")
VECTORS = str(CORPUS / "vectors" / "w2v.100d.txt.gz")

TOKENS = "model.text_field_embedder.token_embedders.tokens"
CHARACTERS = "model.text_field_embedder.token_embedders.token_characters"


class Mistake(NamedTuple):
    config: str
    changes: dict[str, Any]
    key: str = ""
    """The key to be named, if it is not the one that is changed."""

    @property
    def named(self) -> str:
        if self.key:
            return self.key
        (changed,) = self.changes
        return changed


def each(config: str, *changes: dict[str, Any]) -> list[Mistake]:
    """A mistake for each of these changes of a config."""
    return [Mistake(config, one) for one in changes]


MISTAKES = [
    # One config, as one user would write it.
    *each(
        "sst_elmo",
        {"trainer.num_epoch": 3},
        {"trainer.patiance": 5},
        {"trainner": {"num_epochs": 3}},
        {"model.encodr": {"hidden_sizes": [10]}},
        {"model.encoder.hidden_size": [100]},
        {"model.encoder.type": "elmo_tasks_feedforward_lstmm"},
        {"model.encoder.hidden_sizes": [-100]},
        {"model.encoder.hidden_sizes": 100},
        {"model.type": "elmo_task_sst"},
        {"model.elmo.att": "both"},
        {"model.elmo.at": "inptu"},
        {"model.elmo.mix": "wieghted"},
        {"model.elmo.weight_file": "no/weights.hdf5"},
        {"model.elmo.options_file": VECTORS},
        {"model.input_dropout": 1.5},
        {"model.word_vectors": "yes"},
        {f"{TOKENS}.embedding_dim": 50},
        {f"{TOKENS}.pretrained_file": "no/vectors.gz"},
        {"model.initializer": {"regexes": [["encodr", "zero"]]}},
        {"dataset_reader.type": "elmo_tasks_ssst"},
        {"dataset_reader.min_phrase_len": 2},
        {"train_data_path": "no/such.txt"},
        {"validation_data_path": NER},
        {"data_loader.batch_sampler.batch_size": 0},
        {"data_loader.batch_size": 16},
        {"data_loader.batch_sampler.sorting_keys": ["token"]},
        {"trainer.validation_metric": "+acuracy"},
        {"trainer.validation_metric": "accuracy"},
        {"trainer.optimizer.type": "adamm"},
        {"trainer.optimizer.learning_rate": 0.1},
        {"trainer.optimizer.lr": "1e-3"},
        {"trainer.optimizer.lr": -1},
        {"trainer.learning_rate_scheduler.warmup_step": 20},
        {"trainer.checkpointer.keep_most_recent_by_count": 0},
        {"trainer.num_epochs": 0},
        {"trainer.cuda_device": 99},
        {"trainer.grad_norm": "five"},
        {"trainer.no_grad": ["elmoo"]},
    ),
    Mistake(
        "sst_elmo",
        {"model.elmo.mix": "layer:9", "model.elmo.l2": None},
        "model.elmo.mix",
    ),
    Mistake("sst_elmo", {"model.head.hidden_sizes": [200]}, "model.head.dropout"),
    Mistake("sst_elmo", {"vocabulary": {"min_count": 2}}, "vocabulary.min_count"),
    Mistake(
        "sst_elmo",
        {"trainer.learning_rate_scheduler": {"type": "noam"}},
        "trainer.learning_rate_scheduler.model_size",
    ),
    # Keys of the whole config.
    *each(
        "ner",
        {"dataset_readr": {"type": "elmo_tasks_ner"}},
        {"seed": -1},
        {"random_sed": 1},
        {"data_loader": None},
        {"train_data_path": 5},
        {"evaluate_on_test": True},
        {"include_in_archive": "vocabulary"},
        {"datasets_for_vocab_creation": ["training"]},
    ),
    Mistake("ner", {"evaluation": {"type": "simpel"}}, "evaluation.type"),
    Mistake("ner", {"distributed": {"cuda_device": [-1]}}, "distributed.cuda_device"),
    Mistake(
        "ner", {"distributed": {"cuda_devices": [-1, 99]}}, "distributed.cuda_devices.1"
    ),
    # Vocabularies and data loaders.
    *each(
        "ner",
        {"data_loader.batch_sampler.type": "buckets"},
        {"validation_data_loader.batch_sampler.batch_size": -64},
    ),
    Mistake("ner", {"vocabulary": {"min_cout": {"tokens": 2}}}, "vocabulary.min_cout"),
    Mistake("ner", {"vocabulary": {"min_count": {"token": 2}}}, "vocabulary.min_count"),
    Mistake("ner", {"vocabulary": {"type": "from_instance"}}, "vocabulary.type"),
    Mistake("ner", {"data_loader": {"batch_size": 0}}, "data_loader.batch_size"),
    Mistake("ner", {"data_loader": {"shuffle": True}}, "data_loader.batch_size"),
    Mistake("ner", {"data_loader": {"batch_size": "16"}}, "data_loader.batch_size"),
    Mistake(
        "ner",
        {"data_loader": {"batch_size": 2, "shufle": True}},
        "data_loader.shufle",
    ),
    Mistake(
        "ner",
        {"data_loader": {"type": "elmo_tasks_share", "batch_size": 2, "share": 0}},
        "data_loader.share",
    ),
    # The tagger.
    *each(
        "ner_elmo",
        {"model.encoder.dropout": 1.5},
        {"model.encoder.hidden_sizes": [100, 0]},
        {"model.elmo.model": "no/such/folder"},
        {"model.elmo.l2": -0.1},
        {"model.elmo": True},
        {f"{CHARACTERS}.encoder.type": "ccn"},
        {f"{CHARACTERS}.encoder.num_filters": -1},
        {f"{TOKENS}.type": "embeding"},
        {f"{TOKENS}.trainabel": False},
    ),
    Mistake(
        "ner_elmo", {f"{CHARACTERS}.encoder.embedding_dim": 17}, f"{CHARACTERS}.encoder"
    ),
    Mistake(
        "ner_elmo",
        {f"{CHARACTERS}.embedding.vocab_namespace": "characters"},
        f"{CHARACTERS}.embedding",
    ),
    *each(
        "tagger",
        {"dataset_reader.tag": 9},
        {"dataset_reader.tag": "pos"},
        {"model.crf": "true"},
        {"train_data_path": SQUAD},
    ),
    Mistake(
        "tagger",
        {"model.regularizer": {"regexes": [["*weight", "l2"]]}},
        "model.regularizer.regexes.0",
    ),
    # The other tasks.
    *each(
        "squad_elmo",
        {"dataset_reader.max_instances": 0},
        {"train_data_path": SST},
        {"model.max_span_length": 0},
        {"model.encoder.hiden_size": 40},
        {"model.elmo.dropout": 1.5},
        {"data_loader.batch_sampler.sorting_key": "pasage"},
        {"trainer.moving_average.decay": 1.5},
        {"trainer.moving_average.type": "exponental"},
    ),
    Mistake(
        "squad_elmo",
        {"model.initializer": {"regexes": [["^attention", "unifrom"]]}},
        "model.initializer.regexes",
    ),
    Mistake("ner", {f"{TOKENS}.lookup_file": VECTORS}),
    *each(
        "snli_elmo",
        {"dataset_reader.tokenization": "sentences"},
        {"train_data_path": SQUAD},
        {"model.composition.hidden_sizes": []},
        {"model.hiden_size": 64},
        {"model.weight_l2": "small"},
        {"trainer.validation_metric": "+f1"},
    ),
    *each(
        "srl_elmo",
        {"train_data_path": NER},
        {"dataset_reader.verbs_onyl": True},
        {"model.encoder.num_layers": 0},
        {"model.encoder.precision": "float23"},
        {"trainer.grad_clipping": -1},
    ),
    Mistake(
        "srl_elmo",
        {"model.text_field_embedder.token_embedders.predicate.num_embeddings": 1},
        "model.text_field_embedder.token_embedders.predicate",
    ),
    *each(
        "coref_elmo",
        {"train_data_path": NER},
        {"model.head_values": "embedding"},
        {"model.spans_per_word": -0.4},
        {"model.encoder.hidden_size": 0},
        {"trainer.optimizer.betas": [0.9]},
    ),
    # Language models.
    *each(
        "bilm",
        {"train_data_path": "no/such.*.txt"},
        {"model.options.lstm.dimension": 128},
        {"model.options.char_cnn.filters": [[1, 16], [2]]},
        {"data_loader.max_tokens": 100},
        {"data_loader.unrol": 20},
        {"trainer.callbacks": ["elmo_tasks_lm_progres"]},
    ),
    Mistake("bilm", {"vocabulary.size": 100}, "vocabulary.min_count"),
    *each(
        "bilm_finetune",
        {"dataset_reader.fields": ["premis"]},
        {"model.bilm": "no/such/run"},
    ),
    Mistake(
        "bilm_finetune",
        {
            "trainer.learning_rate_scheduler": {
                "type": "slanted_triangular",
                "gradual_unfreezing": True,
            }
        },
        "trainer.learning_rate_scheduler.gradual_unfreezing",
    ),
]
