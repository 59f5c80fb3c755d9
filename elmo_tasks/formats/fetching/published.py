"""
The published ELMo models: their names, what is known of each, and their addresses.

What a publisher says of a licence stands with the page that says it. Nothing else
is claimed: `NOT_STATED` also means that no statement was found.
"""

from dataclasses import dataclass

from elmo_tasks.errors import nearest
from elmo_tasks.formats.corpora import ELMO_MODELS
from elmo_tasks.system.run_names import OPTIONS_FILE, WEIGHT_FILE

# Without https, as their publishers have it; `fetch` compares later downloads with the
# first one.
_NLPL = "http://vectors.nlpl.eu/repository"
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
class Licence:
    """What a publisher says of the use of a model, and where."""

    name: str
    said_at: str = ""


NOT_STATED = Licence("not stated")
NO_RESTRICTIONS = "no restrictions"
_ALLENNLP = Licence(NO_RESTRICTIONS, "https://github.com/allenai/allennlp/issues/1462")
_MIT_MANYLANGS = Licence(
    "MIT", "https://github.com/HIT-SCIR/ELMoForManyLangs/issues/64"
)
_MIT_SEQVEC = Licence(
    "MIT",
    "https://github.com/kipoi/models/blob/master/SeqVec/embedding/model.yaml",
)


@dataclass(frozen=True)
class PublishedModel:
    """
    A model of one language.

    # Parameters

    - `text`: what it was trained on.
    - `files`: URLs of options and weights of a biLM, or of one ZIP.
    - `millions`: the number of parameters, as its publisher or the name of its file
      says.
    - `source`: the kind of model, `bilm` or `manylangs`.
    - `domain`: of the text; empty if it is not stated.
    - `dimension`: the width D of a layer.
    - `md5`: of each file, where its publisher or a catalogue states it.
    """

    language: str
    text: str
    files: tuple[str, ...]
    millions: float | None = None
    source: str = "bilm"
    domain: str = ""
    dimension: int | None = None
    licence: Licence = NOT_STATED
    md5: tuple[str, ...] = ()

    def most_bytes(self, file: str) -> int | None:
        """More than one of its files can have, if that is known."""
        if file.endswith(".json"):
            return _MOST_OPTIONS
        if self.millions is None:
            return None
        return int(self.millions * 4.4e6)

    def md5_of(self, url: str) -> str | None:
        """The MD5 of the file at one of its addresses, if it is stated."""
        for file, md5 in zip(self.files, self.md5, strict=False):
            if file == url:
                return md5
        return None

    @property
    def is_bilm(self) -> bool:
        """Whether it is a biLM in the official format."""
        return self.source == "bilm"


def _bilm(
    text: str,
    millions: float | None,
    prefix: str,
    *,
    weights: str = "weights",
    language: str = "English",
    domain: str = "news",
    dimension: int | None = 1024,
    licence: Licence = _ALLENNLP,
) -> PublishedModel:
    options_file = f"{ELMO_MODELS}/{prefix}_options.json"
    weight_file = f"{ELMO_MODELS}/{prefix}_{weights}.hdf5"
    return PublishedModel(
        language,
        text,
        (options_file, weight_file),
        millions,
        domain=domain,
        dimension=dimension,
        licence=licence,
    )


def _manylangs() -> dict[str, PublishedModel]:
    """The models of ELMoForManyLangs. Their addresses are those of its README."""
    text = "20 million words, Wikipedia and Common Crawl"
    models: dict[str, PublishedModel] = {}
    languages = " ".join(_MANYLANGS.split()).split(", ")
    for number, language in enumerate(languages, start=_MANYLANGS_FROM):
        name = language.lower().replace(" ", "-").replace("å", "a")
        models[f"manylangs-{name}"] = PublishedModel(
            language,
            text,
            (f"{_NLPL}/11/{number}.zip",),
            source="manylangs",
            domain="web",
            dimension=1024,
            licence=_MIT_MANYLANGS,
        )
    return models


def _nlpl(
    number: int,
    language: str,
    text: str,
    domain: str = "",
    dimension: int | None = None,
) -> PublishedModel:
    """A biLM of the NLPL repository (Fares et al. 2017)."""
    file = f"{_NLPL}/20/{number}.zip"
    return PublishedModel(language, text, (file,), domain=domain, dimension=dimension)


_NEWS = "1 Billion Word Benchmark"
_BOTH = "Wikipedia and news, 5.5 billion words"
_SMALL = "2x1024_128_2048cnn_1xhighway"
_MEDIUM = "2x2048_256_2048cnn_1xhighway"
_ORIGINAL = "2x4096_512_2048cnn_2xhighway"
_LARGE = f"{_ORIGINAL}_5.5B"
_PUBMED = f"contributed/pubmed/elmo_{_ORIGINAL}"

_ROSTLAB = "https://rostlab.org/~deepppi/embedding_repo/embedding_models/seqvec"
_SEQVEC = PublishedModel(
    "protein",
    "UniRef50; the words are amino acids",
    (f"{_ROSTLAB}/{OPTIONS_FILE}", f"{_ROSTLAB}/{WEIGHT_FILE}"),
    domain="proteins",
    dimension=1024,
    licence=_MIT_SEQVEC,
    # Both as in Kipoi's catalogue, which also states the addresses and the licence.
    md5=("cede355187778de3ac302a83c761f5f9", "0249d59249a50b43b79f641ff2ba7e88"),
)
"""SeqVec (Heinzinger et al. 2019)."""

_RUSSIAN = "Russian National Corpus and Wikipedia, 2018"
_NORWEGIAN = "Wikipedia and Norsk Aviskorpus"
_CHANGE = "see https://github.com/akutuzov/semeval2020"

# The list of those of Norwegian is at https://wiki.nlpl.eu/Vectors/norlm/elmo; of
# Russian at https://rusvectores.org/en/models, where names end with the dimension; of
# the others where `_CHANGE` says.
_NUMBERED: dict[int, PublishedModel] = {
    195: _nlpl(195, "Russian", f"{_RUSSIAN}, words", "general", 1024),
    196: _nlpl(196, "Russian", f"{_RUSSIAN}, lemmas", "general", 1024),
    199: _nlpl(199, "Russian", "Taiga, 2019, lemmas", "web", 2048),
    201: _nlpl(201, "German", _CHANGE),
    202: _nlpl(202, "Swedish", _CHANGE),
    203: _nlpl(203, "Latin", _CHANGE),
    209: _nlpl(209, "English", _CHANGE, dimension=1024),
    210: _nlpl(210, "Norwegian", "Wikipedia, 2020, lemmas", "Wikipedia"),
    211: _nlpl(211, "Norwegian", "Wikipedia, 2020, words", "Wikipedia"),
    212: _nlpl(212, "Russian", "Araneum, 2020, lemmas", "web", 2048),
    217: _nlpl(217, "Norwegian", f"{_NORWEGIAN}; predicts 30,000 words", "news"),
    218: _nlpl(218, "Norwegian", f"{_NORWEGIAN}; predicts 100,000 words", "news"),
}
"""The biLMs of the NLPL repository, by its numbers."""

MODELS: dict[str, PublishedModel] = {
    "elmo-original": _bilm(_NEWS, 93.6, f"{_ORIGINAL}/elmo_{_ORIGINAL}"),
    "elmo-small": _bilm(_NEWS, 13.6, f"{_SMALL}/elmo_{_SMALL}", dimension=256),
    "elmo-medium": _bilm(_NEWS, 28.0, f"{_MEDIUM}/elmo_{_MEDIUM}", dimension=512),
    "elmo-5.5b": _bilm(
        _BOTH, 93.6, f"{_LARGE}/elmo_{_LARGE}", domain="news, Wikipedia"
    ),
    "elmo-pubmed": _bilm(
        "abstracts of PubMed, 797 million words",
        93.6,
        _PUBMED,
        weights="weights_PubMed_only",
        domain="biomedicine",
        licence=NOT_STATED,
    ),
    "elmo-portuguese": _bilm(
        "Wikipedia",
        None,
        "contributed/pt/elmo_pt",
        language="Portuguese",
        domain="Wikipedia",
        dimension=None,
        licence=NOT_STATED,
    ),
    "seqvec": _SEQVEC,
    **_manylangs(),
    **{f"nlpl-{number}": model for number, model in _NUMBERED.items()},
}
"""By name."""


BUNDLED = "bundled"
"""The name of the biLM that comes with the package."""

BUNDLED_MODEL = PublishedModel(
    "English",
    "novels, Wikipedia and movie reviews, 59 million tokens",
    (),
    5.1,
    domain="novels, Wikipedia, reviews",
    dimension=320,
    licence=Licence(
        "as NOTICE says", "https://github.com/elmo-tasks/elmo-tasks/blob/main/NOTICE"
    ),
)
"""What is known of it. It has no addresses, and is not in `MODELS`."""


def _aliases() -> dict[str, str]:
    aliases = {}
    for name, model in MODELS.items():
        if model.source == "manylangs":
            number = model.files[0].rpartition("/")[2].removesuffix(".zip")
            aliases[f"nlpl-{number}"] = name
    return aliases


ALIASES: dict[str, str] = _aliases()
"""The names `nlpl-NUMBER` of models of the NLPL repository with a name of their own."""


def aliases_of(name: str) -> list[str]:
    """The other names of a published model."""
    return [alias for alias, meant in ALIASES.items() if meant == name]


def published(name: str) -> PublishedModel | None:
    """The published model of this name, also `nlpl-NUMBER`, if there is one."""
    return MODELS.get(ALIASES.get(name, name))


def published_at(url: str) -> PublishedModel | None:
    """The published model that has a file at this address, if there is one."""
    for model in MODELS.values():
        for file in model.files:
            if file.partition("#")[0] == url:
                return model
    return None


def nearest_model(name: str) -> str | None:
    """The name of a model that is most like this one, if any is like it."""
    return nearest(name, [BUNDLED, *MODELS, *ALIASES])
