"""
Penn Treebank tags and lemmas for the words that patterns use.

Closed classes, adjectives, adverbs and verb forms are listed; a word that is not listed is a noun,
plural if it ends in `s`. Where a word has another tag than here, the pattern says so (`read/VBN`).
"""

from functools import cache

from elmo_tasks.miniworld.annotation import Token
from elmo_tasks.miniworld.morphology import noun_lemma
from elmo_tasks.miniworld.tables import entries

TAGGED_WORDS = {
    "DT": "a an the all another each every no some this that both",
    "IN": """
about above across after against along although as at because before behind below beside between
beyond by during for from if in into like near of off on onto out over past per since than through
throughout towards under until up upon via while with within without down whether
""",
    "TO": "to",
    "CC": "and but or nor",
    "EX": "there",
    "MD": "can could may might must will would",
    "PRP": "he him i it she they us we you me them",
    "PRP$": "his her its my their our",
    "POS": "'s '",
    "WP": "who whom what",
    "WDT": "which",
    "WRB": "when where why how",
    "CD": "one two three four five six seven eight nine ten eleven nineteen twenty forty hundred "
    "thousand million sixteen",
    "JJ": """
afraid aged ancient annual asleep awake bad bankrupt blind bloody blue borrowed broken busy cheap
cold coveted daily dark deaf dead dear deep deserted disastrous drunken early easy eleventh empty
extra fair false famous few fifth first fond foreign former fourth free full general goalless good
great greek grey half-built heavy hot idle ill iron junior key large last late latin leaking liberal
limp little local long lost low many masted mild military missing muddy narrow navigable neutral new
next ninth obscure old open other overdue own poor proper proud public quick quiet radical rare red
retired rich right ruined ruling same second secret senior shallow short shy single sleeping slow
small soft southern stolen straight strong sure tall tenth thick thin third tired trembling trifling
twelfth unbeaten unhappy weekly white whole worth wry young losing following engaged such
several fallen sorry
""",
    "JJR": "better less lower more smaller younger shorter longer",
    "JJS": "best biggest eldest highest largest longest most oldest poorest youngest",
    "RB": """
again aground alone away badly dreadfully even ever far finally heavily just never not only outside
overnight quite rather slowly so soon still then together too twice upstairs very well yet once
always no_longer perhaps certainly
""",
    "VB": "beg dance hold lose pay set",
    "VBD": "had said told",
    "VBN": "soaked",
    "VBG": "stopping shaving cheating drinking boarding",
    ",": ",",
    ".": ". ? !",
    ":": ": - -- ;",
    "''": '"',
}

TAG_OF = {word: tag for tag, words in TAGGED_WORDS.items() for word in words.split()}

PROPER_WORDS = frozenset(
    entries(
        "January February March April May June July August September October November December Easter "
        "Christmas Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    )
)
PROPER_PLURALS = frozenset(("Sundays",))
SINGULAR_IN_S = frozenset(entries("brass glass boss class cross gas loss business princess"))
PLURAL_WITHOUT_S = frozenset(entries("children feet men people police women wolves"))
VERB_LEMMAS = {"had": "have", "said": "say", "told": "tell", "stopping": "stop"}


def tag_of(text: str) -> str:
    """The tag of a word that its pattern leaves untagged."""
    if text in PROPER_WORDS:
        return "NNP"
    if text in PROPER_PLURALS:
        return "NNPS"
    known = TAG_OF.get(text.lower())
    if known is not None:
        return known
    if text[0].isdigit():
        return "CD"
    plural = text in PLURAL_WITHOUT_S or (text.endswith("s") and text not in SINGULAR_IN_S)
    return "NNS" if plural else "NN"


@cache
def token(text: str, *, tag: str | None = None, sense: str | None = None) -> Token:
    """A token with its tag, its lemma and its sense (`lemma.sense`), if one is given."""
    tag = tag or tag_of(text)
    lemma = VERB_LEMMAS.get(text) or noun_lemma(text, tag)
    return Token(text, lemma, tag, f"{lemma}.{sense}" if sense else None)
