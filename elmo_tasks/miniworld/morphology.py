"""English inflection for the verbs and nouns of the world."""

from elmo_tasks.miniworld.tables import entries

IRREGULAR_VERBS = {
    "bear": "bore borne",
    "beat": "beat beaten",
    "become": "became become",
    "begin": "began begun",
    "bend": "bent bent",
    "break": "broke broken",
    "bring": "brought brought",
    "build": "built built",
    "burst": "burst burst",
    "rebuild": "rebuilt rebuilt",
    "buy": "bought bought",
    "catch": "caught caught",
    "choose": "chose chosen",
    "come": "came come",
    "cost": "cost cost",
    "cut": "cut cut",
    "do": "did done",
    "draw": "drew drawn",
    "drink": "drank drunk",
    "drive": "drove driven",
    "eat": "ate eaten",
    "fall": "fell fallen",
    "fight": "fought fought",
    "find": "found found",
    "flee": "fled fled",
    "fly": "flew flown",
    "forget": "forgot forgotten",
    "forgive": "forgave forgiven",
    "freeze": "froze frozen",
    "get": "got got",
    "hide": "hid hidden",
    "go": "went gone",
    "grow": "grew grown",
    "hang": "hung hung",
    "have": "had had",
    "hear": "heard heard",
    "hold": "held held",
    "keep": "kept kept",
    "kneel": "knelt knelt",
    "know": "knew known",
    "leave": "left left",
    "lend": "lent lent",
    "lie.deceive": "lied lied",
    "lie": "lay lain",
    "lose": "lost lost",
    "make": "made made",
    "mean": "meant meant",
    "meet": "met met",
    "pay": "paid paid",
    "read": "read read",
    "ride": "rode ridden",
    "ring": "rang rung",
    "rise": "rose risen",
    "run": "ran run",
    "say": "said said",
    "see": "saw seen",
    "sell": "sold sold",
    "send": "sent sent",
    "sing": "sang sung",
    "shake": "shook shaken",
    "shrink": "shrank shrunk",
    "sink": "sank sunk",
    "sit": "sat sat",
    "sleep": "slept slept",
    "speak": "spoke spoken",
    "spend": "spent spent",
    "split": "split split",
    "spring": "sprang sprung",
    "stand": "stood stood",
    "strike": "struck struck",
    "swear": "swore sworn",
    "swell": "swelled swollen",
    "swim": "swam swum",
    "take": "took taken",
    "teach": "taught taught",
    "tell": "told told",
    "think": "thought thought",
    "throw": "threw thrown",
    "wake": "woke woken",
    "wear": "wore worn",
    "weep": "wept wept",
    "win": "won won",
    "write": "wrote written",
}

DOUBLED = frozenset(entries("drag drop admit expel shrug snap slap sob stop occur"))

BE_FORMS = {"VB": "be", "VBN": "been", "VBG": "being", "VBZ": "is", "VBP": "are"}

IRREGULAR_PLURALS = {
    "children": "child",
    "feet": "foot",
    "men": "man",
    "women": "woman",
    "wolves": "wolf",
    "people": "people",
    "goods": "goods",
    "wages": "wage",
    "lives": "life",
}


def inflect_verb(lemma: str, tag: str, *, sense: str = "", plural: bool = False) -> str:
    """
    The form of a verb under a Penn Treebank tag.

    # Parameters

    lemma : `str`
        The base form.
    tag : `str`
        VB, VBP, VBZ, VBD, VBN or VBG.
    sense : `str`, optional
        Tells apart verbs that share a lemma but not their forms, as the two verbs `lie`.
    plural : `bool`, optional
        Whether the subject is plural; only `was` and `were` depend on it.
    """
    if lemma == "be":
        return BE_FORMS[tag] if tag != "VBD" else "were" if plural else "was"
    if tag in ("VB", "VBP"):
        return lemma
    if tag == "VBZ":
        return "has" if lemma == "have" else with_s(lemma)
    if tag == "VBG":
        return (lemma[:-1] if lemma.endswith("e") else double(lemma)) + "ing"
    irregular = IRREGULAR_VERBS.get(f"{lemma}.{sense}") or IRREGULAR_VERBS.get(lemma)
    if irregular:
        return irregular.split()[tag == "VBN"]
    return with_ed(lemma)


def with_s(word: str) -> str:
    """The third person singular of a regular verb, or the plural of a regular noun."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def with_ed(word: str) -> str:
    """The past of a regular verb."""
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ied"
    return double(word) + "ed"


def double(word: str) -> str:
    """The stem before a vowel ending: the last letter is doubled where English doubles it."""
    return word + word[-1] if word in DOUBLED else word


def noun_lemma(word: str, tag: str) -> str:
    """The singular of a noun form, in lower case unless it is a proper noun."""
    if tag != "NNS":
        return word if tag.startswith("NNP") else word.lower()
    if word in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[word]
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes")) else word[:-1]


def indefinite_article(following: str) -> str:
    """`a` or `an`, by the word that follows."""
    vowel_sound = following[0].lower() in "aeiou" and not following.lower().startswith(("uni", "eu", "one"))
    return "an" if vowel_sound or following.lower() in ("hour", "heir", "honest") else "a"
