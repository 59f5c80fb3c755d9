"""
What happens in the passages of the question-answering view.

A line of an event table is one kind of event: verbs that tell it alike, and after `<` verbs that tell it from the
other side, so that their subject is who or what it happened to (`beat`, `lose to`). A preposition that belongs to a
verb follows after a colon. No two lines of a table may hold of the same pair at once without being told apart by
their verbs.
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
"""How many of a passage's names are among `NAMES`; the others are put together like everywhere in this world."""

# By the kinds of who acts and whom or what it happens to.
EVENTS = {
    ("person", "person"): """
beat defeat < lose:to
teach train < learn:from study:under
hire employ engage < work:for
dismiss sack fire
visit call:on
follow pursue
attack strike
accuse charge
save rescue < escape:with
praise thank
paint draw < sit:for
love admire
betray abandon
support help
receive meet:with
pay
kill murder < die:for
shelter hide
""",
    ("person", "firm"): """
buy acquire purchase < pass:to
sell
found establish
manage direct < answer:to
join enter
leave abandon
save rescue
ruin destroy < suffer:under
charge
own possess < belong:to
serve work:for < employ
attack oppose
close
support help
praise
""",
    ("person", "town"): """
visit
leave abandon
reach enter
paint draw
burn destroy
capture seize take < fall:to
defend protect
describe mention
rule govern < answer:to
cross
love admire
save rescue
work:for < employ
supply serve
attack strike
""",
    ("person", "novel"): """
write compose
publish print
translate
burn destroy
praise
attack oppose
buy purchase
read study
mention describe
sell
find discover
read:from
finish complete
lose
""",
    ("person", "ship"): """
command direct < answer:to
build construct
sink destroy
buy acquire purchase < pass:to
board join
sell
find discover
follow pursue
paint draw
visit
save rescue
attack strike
leave abandon
own possess < belong:to
""",
    ("firm", "firm"): """
buy acquire purchase < pass:to
charge
supply < buy:from
beat defeat < lose:to
save rescue
pay
follow
praise
attack oppose
help support
own possess < belong:to
ruin destroy
""",
    ("country", "country"): """
attack invade < suffer:under
beat defeat < lose:to
help support
address
occupy seize < fall:to
protect defend
supply serve
accept
leave abandon
rule govern < answer:to
betray
follow
""",
    ("paper", "person"): """
attack oppose
praise
accuse charge
hire employ engage < write:for
dismiss sack fire
pay
ruin destroy
defend support
quote
betray abandon
""",
    ("school", "person"): """
accept admit
expel dismiss
teach train < study:at
hire employ engage < work:for
pay
praise
support help
accuse charge
refuse
""",
}

TIMES = """
in {year}
in {year}
in {year}
in {month} {year}
in {month} {year}
in {month}
on {weekday}
before the war
after the flood
during the strike
at Christmas
at Easter
after the election
before dawn
during the long winter
after the fire
in early spring
two days later
at the end of {month}
towards midnight
"""

PLACES = """
in {town}
in {town}
in {town}
near {town}
near {town}
at {town}
on the old bridge
in the market
at the theatre
outside the church
in the mountains
on the river
at the station
in the north
behind the castle
on the coast
in the desert
at the harbour
"""

CAUSES = """
because of the war
because of a letter
because of the storm
because of an old debt
because of the heavy rain
because of a promise
for want of money
for want of time
out of anger
out of pity
out of fear
for fear of a scandal
for the sake of peace
in the hope of a reward
on the advice of a lawyer
on the orders of the king
out of love
out of jealousy
for lack of friends
in the hope of fame
"""

# What a question calls an entity of a kind, besides `what`; people are always `who`.
KIND_NAMES = {
    "firm": "firm company business",
    "town": "town place",
    "novel": "book novel",
    "ship": "ship vessel",
    "country": "country nation",
    "paper": "paper newspaper",
    "school": "school college",
}
