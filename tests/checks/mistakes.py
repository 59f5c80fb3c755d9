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


MISTAKES = [
    # One config, as one user would write it.
    Mistake("sst_elmo", {"trainer.num_epoch": 3}),
    Mistake("sst_elmo", {"trainer.patiance": 5}),
    Mistake("sst_elmo", {"trainner": {"num_epochs": 3}}),
    Mistake("sst_elmo", {"model.encodr": {"hidden_sizes": [10]}}),
    Mistake("sst_elmo", {"model.encoder.hidden_size": [100]}),
    Mistake("sst_elmo", {"model.encoder.type": "elmo_tasks_feedforward_lstmm"}),
    Mistake("sst_elmo", {"model.encoder.hidden_sizes": [-100]}),
    Mistake("sst_elmo", {"model.encoder.hidden_sizes": 100}),
    Mistake("sst_elmo", {"model.type": "elmo_task_sst"}),
    Mistake("sst_elmo", {"model.elmo.att": "both"}),
    Mistake("sst_elmo", {"model.elmo.at": "inptu"}),
    Mistake(
        "sst_elmo",
        {"model.elmo.mix": "layer:9", "model.elmo.l2": None},
        "model.elmo.mix",
    ),
    Mistake("sst_elmo", {"model.elmo.mix": "wieghted"}),
    Mistake("sst_elmo", {"model.elmo.weight_file": "no/weights.hdf5"}),
    Mistake("sst_elmo", {"model.elmo.options_file": VECTORS}),
    Mistake("sst_elmo", {"model.input_dropout": 1.5}),
    Mistake("sst_elmo", {"model.word_vectors": "yes"}),
    Mistake("sst_elmo", {"model.head.hidden_sizes": [200]}, "model.head.dropout"),
    Mistake("sst_elmo", {f"{TOKENS}.embedding_dim": 50}),
    Mistake("sst_elmo", {f"{TOKENS}.pretrained_file": "no/vectors.gz"}),
    Mistake("sst_elmo", {"model.initializer": {"regexes": [["encodr", "zero"]]}}),
    Mistake("sst_elmo", {"dataset_reader.type": "elmo_tasks_ssst"}),
    Mistake("sst_elmo", {"dataset_reader.min_phrase_len": 2}),
    Mistake("sst_elmo", {"train_data_path": "no/such.txt"}),
    Mistake("sst_elmo", {"validation_data_path": NER}),
    Mistake("sst_elmo", {"data_loader.batch_sampler.batch_size": 0}),
    Mistake("sst_elmo", {"data_loader.batch_size": 16}),
    Mistake("sst_elmo", {"data_loader.batch_sampler.sorting_keys": ["token"]}),
    Mistake("sst_elmo", {"vocabulary": {"min_count": 2}}, "vocabulary.min_count"),
    Mistake("sst_elmo", {"trainer.validation_metric": "+acuracy"}),
    Mistake("sst_elmo", {"trainer.validation_metric": "accuracy"}),
    Mistake("sst_elmo", {"trainer.optimizer.type": "adamm"}),
    Mistake("sst_elmo", {"trainer.optimizer.learning_rate": 0.1}),
    Mistake("sst_elmo", {"trainer.optimizer.lr": "1e-3"}),
    Mistake("sst_elmo", {"trainer.optimizer.lr": -1}),
    Mistake(
        "sst_elmo",
        {"trainer.learning_rate_scheduler": {"type": "noam"}},
        "trainer.learning_rate_scheduler.model_size",
    ),
    Mistake("sst_elmo", {"trainer.learning_rate_scheduler.warmup_step": 20}),
    Mistake("sst_elmo", {"trainer.checkpointer.keep_most_recent_by_count": 0}),
    Mistake("sst_elmo", {"trainer.num_epochs": 0}),
    Mistake("sst_elmo", {"trainer.cuda_device": 99}),
    Mistake("sst_elmo", {"trainer.grad_norm": "five"}),
    Mistake("sst_elmo", {"trainer.no_grad": ["elmoo"]}),
    # Keys of the whole config.
    Mistake("ner", {"dataset_readr": {"type": "elmo_tasks_ner"}}),
    Mistake("ner", {"seed": -1}),
    Mistake("ner", {"random_sed": 1}),
    Mistake("ner", {"data_loader": None}),
    Mistake("ner", {"train_data_path": 5}),
    Mistake("ner", {"evaluate_on_test": True}),
    Mistake("ner", {"evaluation": {"type": "simpel"}}, "evaluation.type"),
    Mistake("ner", {"include_in_archive": "vocabulary"}),
    Mistake("ner", {"distributed": {"cuda_device": [-1]}}, "distributed.cuda_device"),
    Mistake(
        "ner", {"distributed": {"cuda_devices": [-1, 99]}}, "distributed.cuda_devices.1"
    ),
    Mistake("ner", {"datasets_for_vocab_creation": ["training"]}),
    # Vocabularies and data loaders.
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
    Mistake("ner", {"data_loader.batch_sampler.type": "buckets"}),
    Mistake("ner", {"validation_data_loader.batch_sampler.batch_size": -64}),
    Mistake(
        "ner",
        {"data_loader": {"type": "elmo_tasks_share", "batch_size": 2, "share": 0}},
        "data_loader.share",
    ),
    # The tagger.
    Mistake("ner_elmo", {"model.encoder.dropout": 1.5}),
    Mistake("ner_elmo", {"model.encoder.hidden_sizes": [100, 0]}),
    Mistake("ner_elmo", {"model.elmo.model": "no/such/folder"}),
    Mistake("ner_elmo", {"model.elmo.l2": -0.1}),
    Mistake("ner_elmo", {"model.elmo": True}),
    Mistake(
        "ner_elmo", {f"{CHARACTERS}.encoder.embedding_dim": 17}, f"{CHARACTERS}.encoder"
    ),
    Mistake(
        "ner_elmo",
        {f"{CHARACTERS}.embedding.vocab_namespace": "characters"},
        f"{CHARACTERS}.embedding",
    ),
    Mistake("ner_elmo", {f"{CHARACTERS}.encoder.type": "ccn"}),
    Mistake("ner_elmo", {f"{CHARACTERS}.encoder.num_filters": -1}),
    Mistake("ner_elmo", {f"{TOKENS}.type": "embeding"}),
    Mistake("ner_elmo", {f"{TOKENS}.trainabel": False}),
    Mistake("tagger", {"dataset_reader.tag": 9}),
    Mistake("tagger", {"dataset_reader.tag": "pos"}),
    Mistake("tagger", {"model.crf": "true"}),
    Mistake("tagger", {"train_data_path": SQUAD}),
    Mistake(
        "tagger",
        {"model.regularizer": {"regexes": [["*weight", "l2"]]}},
        "model.regularizer.regexes.0",
    ),
    # The other tasks.
    Mistake("squad_elmo", {"dataset_reader.max_instances": 0}),
    Mistake("squad_elmo", {"train_data_path": SST}),
    Mistake("squad_elmo", {"model.max_span_length": 0}),
    Mistake("squad_elmo", {"model.encoder.hiden_size": 40}),
    Mistake("squad_elmo", {"model.elmo.dropout": 1.5}),
    Mistake("squad_elmo", {"data_loader.batch_sampler.sorting_key": "pasage"}),
    Mistake("squad_elmo", {"trainer.moving_average.decay": 1.5}),
    Mistake("squad_elmo", {"trainer.moving_average.type": "exponental"}),
    Mistake(
        "squad_elmo",
        {"model.initializer": {"regexes": [["^attention", "unifrom"]]}},
        "model.initializer.regexes",
    ),
    Mistake("ner", {f"{TOKENS}.lookup_file": VECTORS}),
    Mistake("snli_elmo", {"dataset_reader.tokenization": "sentences"}),
    Mistake("snli_elmo", {"train_data_path": SQUAD}),
    Mistake("snli_elmo", {"model.composition.hidden_sizes": []}),
    Mistake("snli_elmo", {"model.hiden_size": 64}),
    Mistake("snli_elmo", {"model.weight_l2": "small"}),
    Mistake("snli_elmo", {"trainer.validation_metric": "+f1"}),
    Mistake("srl_elmo", {"train_data_path": NER}),
    Mistake("srl_elmo", {"dataset_reader.verbs_onyl": True}),
    Mistake("srl_elmo", {"model.encoder.num_layers": 0}),
    Mistake("srl_elmo", {"model.encoder.precision": "float23"}),
    Mistake(
        "srl_elmo",
        {"model.text_field_embedder.token_embedders.predicate.num_embeddings": 1},
        "model.text_field_embedder.token_embedders.predicate",
    ),
    Mistake("srl_elmo", {"trainer.grad_clipping": -1}),
    Mistake("coref_elmo", {"train_data_path": NER}),
    Mistake("coref_elmo", {"model.head_values": "embedding"}),
    Mistake("coref_elmo", {"model.spans_per_word": -0.4}),
    Mistake("coref_elmo", {"model.encoder.hidden_size": 0}),
    Mistake("coref_elmo", {"trainer.optimizer.betas": [0.9]}),
    # Language models.
    Mistake("bilm", {"train_data_path": "no/such.*.txt"}),
    Mistake("bilm", {"vocabulary.size": 100}, "vocabulary.min_count"),
    Mistake("bilm", {"model.options.lstm.dimension": 128}),
    Mistake("bilm", {"model.options.char_cnn.filters": [[1, 16], [2]]}),
    Mistake("bilm", {"data_loader.max_tokens": 100}),
    Mistake("bilm", {"data_loader.unrol": 20}),
    Mistake("bilm", {"trainer.callbacks": ["elmo_tasks_lm_progres"]}),
    Mistake("bilm_finetune", {"dataset_reader.fields": ["premis"]}),
    Mistake("bilm_finetune", {"model.bilm": "no/such/run"}),
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
