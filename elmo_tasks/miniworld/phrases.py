"""
Noun phrases and adjuncts around names, by kind; `pattern.py` tells how a line is read.

`{self}` is the entity that the table is about.
"""

# Words for people by what they do, under the wider word that covers them.
OCCUPATIONS = {
    "artist": "painter sculptor engraver potter architect draughtsman",
    "writer": "novelist poet essayist playwright biographer dramatist journalist",
    "musician": "violinist pianist organist composer soprano tenor conductor cellist trumpeter",
    "scholar": "historian botanist geologist mathematician astronomer philologist zoologist chemist",
    "doctor": "surgeon physician dentist oculist",
    "lawyer": "judge barrister solicitor magistrate notary",
    "craftsman": "carpenter blacksmith tailor tanner cooper cobbler printer tinker weaver",
    "tradesman": "grocer butcher draper chemist innkeeper tobacconist bookseller pedlar",
    "soldier": "colonel sergeant general lieutenant corporal gunner",
    "sailor": "helmsman boatswain pilot steward mate",
    "clergyman": "bishop vicar curate abbot preacher missionary",
    "athlete": "goalkeeper wrestler jockey boxer runner cyclist swimmer striker",
    "official": "governor senator ambassador consul mayor inspector minister",
    "servant": "gardener coachman housekeeper cook footman governess",
    "traveller": "explorer mountaineer naturalist photographer geographer",
    "criminal": "pirate smuggler burglar poacher swindler",
}

# What a bare description of each kind may be; it serves as an apposition.
DESCRIPTIONS = {
    "person": """
a retired {occupation} from {home}
the {occupation} who had painted/VBD the ceiling
an old friend of {person}
a {country.adj} {occupation}
the youngest of the three brothers
a widower with {number} children
a thin man with a limp
a former {occupation}
a {occupation} of some talent
a cousin of the {occupation}
the son of a {occupation}
a {occupation} by trade
a {occupation} at {firm}
a student at {school}
then a boy of ten
""",
    "town": """
a village on the {country.adj} border
a small port in the south/NN
a market town on {river}
the birthplace of {person}
a spa with bad hotels
a fortress of the old kings
a suburb of the capital
a hamlet of {number} houses
a mining town in the hills
a day 's ride from the coast
once the seat of a bishop
the next stop on the line
""",
    "river": """
a muddy stream
the longest river in {country}
a tributary of {river}
then in flood/NN
""",
    "country": """
a kingdom in the mountains
a land of lakes and forests
then under foreign rule/NN
a neutral power
the poorest state on the continent
""",
    "firm": """
a firm of brewers
a maker of bicycles
a shipping line
a bank=money founded/VBN in {year}
an insurance company
a small publisher
a family business
a supplier of cement
the biggest employer in {town}
a subsidiary of {firm}
a cotton mill
a chain of grocers
""",
    "club": """
last year 's champions
the league leaders
a second - division side
the losing finalists
the visitors
a side with no wins/NNS
""",
    "school": """
a school for girls
a boarding school near {town}
an old university
a military academy
a seminary for priests
a college of music
""",
    "paper": """
a liberal weekly
a daily with few readers
the organ of {party}
an evening newspaper
a journal of medicine
""",
    "party": """
the party of the farmers
a workers ' movement
a league of landowners
the smaller partner in the coalition
a secret society
""",
    "novel": """
a novel in verse
a comedy in three acts
a long poem
the second book of {person}
a play about thieves
an opera by {person}
a film without words
""",
    "ship": """
a steamer of the mail line
a brig with three masts
a whaler out of {town}
a cruiser of the old type
a leaking schooner
""",
    "prize": """
the highest award for poets
an annual race for yachts
a medal for bravery
the oldest trophy in the sport
""",
    "war": """
a bloody affair
a quarrel over salt
a campaign of three weeks
""",
}

# What may stand before the name without a comma.
TITLES = {
    "person": """
the {occupation}
the poor {occupation}
the late {occupation}
old
young
poor
little
my uncle
his friend
her cousin
""",
    "town": """
the village of
the port of
the ancient city of
the parish of
the little town of
the ruins of
""",
    "river": "the river",
    "country": """
the kingdom of
the republic of
the armies of
""",
    "firm": """
the house=firm of
the firm of
the brewers
the merchants
the publishers
the engineering firm
the grocery chain
the bank=money
""",
    "club": """
the cup holders
the league leaders
their rivals
the hosts
""",
    "school": """
the academy of
the boys of
the governors of
""",
    "paper": "the weekly\nthe daily",
    "party": "the ruling\nthe liberal\nthe radical",
    "novel": """
the novel
his opera
her first book
the tragedy
""",
    "ship": """
the steamer
the schooner
the frigate
the trawler
""",
    "prize": "the coveted\nthe annual",
    "war": "the disastrous\nthe long",
}

# People named by what they are to something: they take the verbs of a person.
RELATED_PEOPLE = {
    "person": """
{self} 's mother
{self} 's younger sister
{self} 's landlady
the widow of {self}
the lawyer of {self}
{self} 's barber
a pupil of {self}
the man who had robbed/VBD {self}
""",
    "town": """
the mayor of {self}
the bishop of {self}
a doctor from {self}
the night watchman at {self}
the station master at {self}
the last lighthouse keeper of {self}
the only baker in {self}
""",
    "country": """
the queen of {self}
a deserter from {self}
the foreign minister of {self}
an exile from {self}
""",
    "river": "the ferryman on {self}\na fisherman from {self}",
    "firm": """
the chairman of {self}
{self} 's cashier
a foreman at {self}
a director of {self}
the receiver of {self}
""",
    "club": """
the captain of {self}
{self} 's goalkeeper
the {self} trainer
a {self} defender
""",
    "school": "the headmaster of {self}\nthe steward of {self}\na graduate of {self}",
    "paper": "the editor of {self}\na reporter from {self}\nthe {self} critic",
    "party": "the leader of {self}\n{self} 's treasurer\na {self} deputy",
    "novel": "the author of {self}\nthe heroine of {self}\nthe villain of {self}",
    "ship": "the captain of {self}\nthe cook of {self}\na passenger on {self}",
    "prize": "the winner of {self}\nthe founder of {self}",
    "war": "a hero of {self}\na veteran of {self}",
}

# Adjuncts that fit any clause, and those that need a person or an organisation to act.
ADJUNCTS = """
(TMP in {year})
(TMP all that year)
(CAU because of a letter from {person})
(CAU on orders from {firm})
(CAU after a report in {paper})
(CAU out/RP of hatred for {person})
(MNR with the help of {firm})
(TMP in {month})
(TMP in {month} {year})
(TMP last/JJ winter)
(TMP the following summer)
(TMP on {weekday})
(TMP on a cold {weekday} in {month})
(TMP at the end of {month})
(TMP {number} years later/RB)
(TMP before the war)
(TMP during {war})
(TMP in the days of {person})
(TMP within a week)
(TMP after {number} months)
(LOC in {country})
(LOC near {town})
(CAU to the surprise of {person})
(CAU for reasons that nobody understood/VBD)
(CAU according/VBG to {paper})
(TMP that night)
(TMP towards evening)
"""

PERSON_ADJUNCTS = """
(MNR together with {person})
(MNR against the advice of {person})
(MNR without a word to {person})
(MNR in spite of {himself})
(MNR with {person} at {his} side)
(TMP at the request of {person})
(TMP on the way to {town})
(LOC at {person} 's house)
(LOC in the streets of {town})
(TMP after a quarrel with {person})
"""

# Plain people, for sentences in which names occur only in other places.
PEOPLE = """
the old {occupation}
a {occupation}
the {occupation}
a stranger
the girl
the boy
the widow
my father
my aunt
her husband
the young {occupation}
somebody
a tall {occupation} from {town}
the {country.adj} {occupation}
"""

FEMALE_WORDS = "mother sister landlady widow aunt girl soprano housekeeper governess queen heroine"
