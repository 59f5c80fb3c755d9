"""The published ELMo models: their names, languages and addresses."""

from dataclasses import dataclass

from elmo_tasks.formats.corpora import ELMO_MODELS

# Without https, as its README has it; `fetch` compares later downloads with the first
# one.
_NLPL = "http://vectors.nlpl.eu/repository/11"
_MOST_OPTIONS = 2**20  # bytes
_MANYLANGS_FROM = 136
_MANYLANGS = """
Arabic, Bulgarian, Catalan, Czech, Old Church Slavonic, Danish, German, Greek, English, Spanish, Estonian, Basque,
Persian, Finnish, French, Irish, Galician, Ancient Greek, Hebrew, Hindi, Croatian, Hungarian, Indonesian, Italian,
Japanese, Korean, Latin, Latvian, Dutch, Norwegian Bokmål, Norwegian Nynorsk, Polish, Portuguese, Romanian, Russian,
Slovak, Slovene, Swedish, Turkish, Uyghur, Ukrainian, Urdu, Vietnamese, Chinese
"""
"""
The languages of ELMoForManyLangs (Che et al. 2018), in the order of the repository's
numbers.
"""


@dataclass(frozen=True)
class PublishedModel:
    """A model of one language."""

    language: str

    text: str
    """What it was trained on."""

    files: tuple[str, ...]
    """URLs of options and weights of a biLM, or of the one ZIP of ELMoForManyLangs."""

    millions: float | None = None
    """The number of parameters, as its publisher or the name of its file says."""

    def most_bytes(self, file: str) -> int | None:
        """More than one of its files can have, if that is known."""
        if file.endswith(".json"):
            return _MOST_OPTIONS
        if self.millions is None:
            return None
        return int(self.millions * 4.4e6)

    @property
    def is_bilm(self) -> bool:
        """Whether it is a biLM in the official format."""
        return len(self.files) == 2


def _bilm(
    text: str,
    millions: float | None,
    prefix: str,
    *,
    weights: str = "weights",
    language: str = "English",
) -> PublishedModel:
    options_file = f"{ELMO_MODELS}/{prefix}_options.json"
    weight_file = f"{ELMO_MODELS}/{prefix}_{weights}.hdf5"
    return PublishedModel(language, text, (options_file, weight_file), millions)


def _manylangs() -> dict[str, PublishedModel]:
    """The models of ELMoForManyLangs. Their addresses are those of its README."""
    text = "20 million words, Wikipedia and Common Crawl"
    models: dict[str, PublishedModel] = {}
    languages = " ".join(_MANYLANGS.split()).split(", ")
    for number, language in enumerate(languages, start=_MANYLANGS_FROM):
        name = language.lower().replace(" ", "-").replace("å", "a")
        file = f"{_NLPL}/{number}.zip"
        models[f"manylangs-{name}"] = PublishedModel(language, text, (file,))
    return models


_NEWS = "1 Billion Word Benchmark"
_BOTH = "Wikipedia and news, 5.5 billion words"
_SMALL = "2x1024_128_2048cnn_1xhighway"
_MEDIUM = "2x2048_256_2048cnn_1xhighway"
_ORIGINAL = "2x4096_512_2048cnn_2xhighway"
_LARGE = f"{_ORIGINAL}_5.5B"
_PUBMED = f"contributed/pubmed/elmo_{_ORIGINAL}"

MODELS: dict[str, PublishedModel] = {
    "elmo-original": _bilm(_NEWS, 93.6, f"{_ORIGINAL}/elmo_{_ORIGINAL}"),
    "elmo-small": _bilm(_NEWS, 13.6, f"{_SMALL}/elmo_{_SMALL}"),
    "elmo-medium": _bilm(_NEWS, 28.0, f"{_MEDIUM}/elmo_{_MEDIUM}"),
    "elmo-5.5b": _bilm(_BOTH, 93.6, f"{_LARGE}/elmo_{_LARGE}"),
    "elmo-pubmed": _bilm("PubMed", 93.6, _PUBMED, weights="weights_PubMed_only"),
    "elmo-portuguese": _bilm(
        "contributed to AllenNLP", None, "contributed/pt/elmo_pt", language="Portuguese"
    ),
} | _manylangs()
"""By name."""
