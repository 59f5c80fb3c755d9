"""
Words of the question-answering view: names that passages use, and what questions call whom and what.
"""

# Names that general text knows, most of them, so that word vectors tell the passage's names apart; whether one is
# called after a person or a place says nothing about what it names here.
NAMES = """
Aldridge Alexandra Amelia Archer Arthur Ashe Austin Barbara Benson Berlin Boston Bridget Brooke Cambridge Carter
Cavendish Chad Charlotte Chicago Clark Columbia Crawley Dale Davis Dean Diana Dorothea Edinburgh Egerton Emily
Fairfield Farnham Fleetwood Florence Franklin Garth Georgia Gerald Gibson Glasgow Gloria Hale Harley Holmes Hugh Jackson
Jasper Johnson Jones Julia Kate Kenton Knight Lambert Langley Laurie Leicester Leonard Lesbia Lincoln Lionel Liverpool
Lorna Lucy Manchester Maria Marian Martin Mason Melbourne Melton Miller Monica Moore Morgan Morel Munich Nancy Norton
Oliver Osborne Oxford Partridge Paris Percy Philadelphia Phoebe Pitt Pope Quebec Rachel Ralph Robin Roderick Rosamond
Rowland Russell Ruth Sara Scott Simon Smith Sophia Stephen Sydney Sylvia Taylor Thea Thornton Victoria Vienna
Virginia Walton Warrington Watson Wells Williams Willow Wilson York
"""
KNOWN_SHARE = 0.8

# What a question calls an entity of a kind, besides `what`; people are always `who`.
KIND_NAMES = {
    "firm": "firm company business",
    "club": "club team",
    "town": "town place",
    "river": "river",
    "novel": "book work",
    "ship": "ship vessel",
    "country": "country nation",
    "paper": "paper newspaper",
    "party": "party",
    "school": "school college",
    "prize": "prize award",
    "war": "war",
}

# Nouns that a question asks after with `who`, besides occupations.
PEOPLE = """
aunt author barber beggar boy brother brothers captain cashier child children clerk cousin critic daughter defender
deputy deserter director doctor editor exile father fisherman ferryman foreman founder friend girl goalkeeper graduate
grandmother headmaster hero heroine husband landlady leader men mother nobody nurse owner partners passenger
pupil queen receiver reporter reporters sailor sister sisters soldier somebody stranger strangers teacher trainer
treasurer uncle veteran villain watchman widow winner women workers
"""

# The first words of times that answer `how long`, and of those that answer no question of ours.
DURATIONS = "for until throughout all"
NO_TIMES = "twice every"
