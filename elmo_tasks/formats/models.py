"""The published ELMo models: their names, languages and addresses."""

from dataclasses import dataclass

from elmo_tasks.formats.corpora import CORPORA, ELMO_MODELS, Download

_NLPL = "http://vectors.nlpl.eu/repository/11"
_MANYLANGS_FROM = 136
_MANYLANGS = """
Arabic, Bulgarian, Catalan, Czech, Old Church Slavonic, Danish, German, Greek, English, Spanish, Estonian, Basque,
Persian, Finnish, French, Irish, Galician, Ancient Greek, Hebrew, Hindi, Croatian, Hungarian, Indonesian, Italian,
Japanese, Korean, Latin, Latvian, Dutch, Norwegian Bokmål, Norwegian Nynorsk, Polish, Portuguese, Romanian, Russian,
Slovak, Slovene, Swedish, Turkish, Uyghur, Ukrainian, Urdu, Vietnamese, Chinese
"""
"""The languages of ELMoForManyLangs (Che et al. 2018), in the order of the repository's numbers."""


@dataclass(frozen=True)
class PublishedModel:
    """
    A model of one language.

    # Parameters

    - `text`: what it was trained on.
    - `files`: options and weights of a biLM, or the one ZIP of a model of ELMoForManyLangs.
    - `millions`: of parameters, as its publisher or the name of its file says.
    """

    language: str
    text: str
    files: tuple[Download, ...]
    millions: float | None = None

    @property
    def is_bilm(self) -> bool:
        """Whether it is a biLM in the official format."""
        return len(self.files) == 2


def _bilm(
    text: str, options: str, weights: str, *, language: str = "English", millions: float | None = None
) -> PublishedModel:
    files = (Download(f"{ELMO_MODELS}/{options}"), Download(f"{ELMO_MODELS}/{weights}"))
    return PublishedModel(language, text, files, millions)


def _sized(text: str, size: str, millions: float) -> PublishedModel:
    """A biLM whose files are named after its size."""
    prefix = f"{size}/elmo_{size}"
    return _bilm(text, f"{prefix}_options.json", f"{prefix}_weights.hdf5", millions=millions)


def _manylangs(number: int, language: str) -> PublishedModel:
    return PublishedModel(
        language, "20 million words, Wikipedia and Common Crawl", (Download(f"{_NLPL}/{number}.zip"),)
    )


_NEWS = "1 Billion Word Benchmark"
_PUBMED = "contributed/pubmed/elmo_2x4096_512_2048cnn_2xhighway"
_ORIGINAL = tuple(file.source for file in CORPORA["bilm"][:2] if isinstance(file.source, Download))

MODELS: dict[str, PublishedModel] = {
    "elmo-original": PublishedModel("English", _NEWS, _ORIGINAL, 93.6),
    "elmo-small": _sized(_NEWS, "2x1024_128_2048cnn_1xhighway", 13.6),
    "elmo-medium": _sized(_NEWS, "2x2048_256_2048cnn_1xhighway", 28.0),
    "elmo-5.5b": _sized("Wikipedia and news, 5.5 billion words", "2x4096_512_2048cnn_2xhighway_5.5B", 93.6),
    "elmo-pubmed": _bilm("PubMed", f"{_PUBMED}_options.json", f"{_PUBMED}_weights_PubMed_only.hdf5", millions=93.6),
    "elmo-portuguese": _bilm(
        "contributed to AllenNLP",
        "contributed/pt/elmo_pt_options.json",
        "contributed/pt/elmo_pt_weights.hdf5",
        language="Portuguese",
    ),
} | {
    f"manylangs-{language.lower().replace(' ', '-').replace('å', 'a')}": _manylangs(number, language)
    for number, language in enumerate(" ".join(_MANYLANGS.split()).split(", "), start=_MANYLANGS_FROM)
}
"""By name. The addresses of ELMoForManyLangs are those of its README."""
