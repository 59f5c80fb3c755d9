"""
The vocabulary of the reviews: topics with their parts and what may be said of them, words whose polarity depends on
their neighbours, words that have a sense without sentiment.

Lines are split between training and held-out files by `part_of`; the words of `COMMON` are shared.
"""

# Adjectives that fit everything, by their sentiment; every file has them.
COMMON = {
    2: "excellent splendid wonderful magnificent perfect brilliant",
    1: "good pleasant agreeable lovely charming remarkable fine pretty",
    -1: "bad poor weak disagreeable unpleasant ugly dull indifferent",
    -2: "terrible awful dreadful horrible wretched miserable",
}

# For each topic the nouns that a review may be about, the nouns for parts of it, and adjectives that fit the topic.
TOPICS = {
    "work": {
        "whole": "novel play poem comedy tragedy opera concert film story song picture performance book",
        "part": """
plot ending hero heroine villain style language music dance humour chapter scene verse cast tone title beginning
argument description
""",
        "good": "clever lively graceful original vivid delicate striking touching moving fresh simple",
        "bad": "stupid silly confused absurd ridiculous feeble shallow vulgar empty",
    },
    "meal": {
        "whole": "dinner supper breakfast lunch meal feast",
        "part": "soup meat bread fish wine cheese coffee fruit tea milk",
        "good": "tender rich fresh sweet hot",
        "bad": "bitter cold salt heavy dry",
    },
    "journey": {
        "whole": "voyage crossing journey passage trip ride walk",
        "part": "ship cabin captain crew train carriage boat driver deck company weather coast",
        "good": "smooth easy swift safe comfortable cheerful",
        "bad": "rough dangerous slow uncomfortable",
    },
    "lodging": {
        "whole": "hotel inn house cottage room castle palace",
        "part": "bed garden view landlady landlord service furniture kitchen staircase",
        "good": "clean cheerful bright comfortable quiet",
        "bad": "dirty damp gloomy dark cold",
    },
    "person": {
        "whole": "speech sermon lesson performance trial address",
        "part": "speaker teacher lawyer preacher voice manner answer judge advice chairman pupil guest",
        "good": "kind honest brave gentle generous noble wise modest patient",
        "bad": "rude cruel selfish foolish mean careless false vain",
    },
}

# Nouns with a sentiment, for `full of wit` and `without wit`.
QUALITIES = {
    1: "charm wit grace warmth beauty skill courage taste humour life truth strength sympathy hope tenderness",
    -1: "noise danger trouble waste confusion fear folly nonsense vanity sorrow pain lies despair anger",
}

# adjective: nouns with which it is praise / nouns with which it is blame.
PAIRS = """
cold: beer water wine milk / soup tea coffee dinner meat welcome room bed supper
hot: soup coffee bread meal tea / cabin carriage night temper crowd
warm: welcome bed smile room coat heart / beer wine milk
long: friendship life peace holiday summer marriage / speech sermon delay wait illness war quarrel queue
short: sermon speech delay wait illness war quarrel / life memory holiday summer temper peace
cheap: room bread wine house fare ticket meal rent / trick joke lie revenge excuse
sharp: mind wit eye knife sword ear / pain tongue blow frost
light: step heart touch supper breeze punishment / purse excuse sentence
heavy: purse / loss step heart fog burden tax blow
deep: sleep peace joy love knowledge affection / wound sorrow despair trouble grief debt
small: price mistake fault loss debt delay bill / mind portion reward hope garden income
large: garden reward portion income room heart / bill debt mistake loss tax fine
high: praise income reward / price fever rent tax debt
low: price rent fever tax / trick income blow
old: friend wine friendship song / joke excuse bread quarrel lie fish
fresh: bread fish air fruit milk / wound quarrel trouble
strong: arm bridge rope wall will tea / smell current
soft: bed voice hand bread pillow / fish brain will
hard: currency / bed bread heart winter blow life
thick: carpet coat wall soup / fog smoke head accent
thin: / soup coat excuse wine
dry: bed wood clothes cellar / bread throat well
quick: wit answer reply eye / temper retreat
growing: trade friendship love confidence / debt fear trouble doubt hatred
constant: peace friendship joy love / pain fear hatred trouble
sudden: joy kindness success / death loss fever blow pain
perpetual: peace spring joy / noise rain quarrel
free: meal room passage bed /
early: success spring victory / death frost defeat loss
empty: prison / promise purse cellar
broken: chain siege fever / promise heart leg bridge window
strange: charm beauty story / smell noise taste voice
funny: joke story play song / smell taste noise
wild: joy beauty / temper storm rage
"""

# What happens without any sentiment, in words that have one elsewhere.
FACTS = """
the inn lies beside the river
the key lies on the table
the castle lies to the north of the town
she bore two children there
the king bore the same name
it is a kind of inn
they sold a kind of hat
he kept a kind of diary
we went to the fair on Monday
the fair was held in the square
they came home from the fair at six
he stood by the grave of his father
the grave is behind the church
he had paid the fine to the clerk
the fine was ten shillings
the court set a fine of six pounds
we had to cross the river at noon
they cross the bridge every day
the ships cross in the night
the doctor saw a patient at four
a patient sat in the hall
each patient has a number
the clock was striking nine
the miners were striking in the north
they kept moving the chairs about
the men were moving a piano
the train was moving when he came
nobody knew what the letters mean
the marks mean that the road is closed
the mean height of the hills is low
the well stands in the yard
they drew water from the well
the boys looked into the well
he left without touching his hat
the two roofs were touching
she was cutting the bread
the men were cutting the corn
we heard a sound of bells
there was a sound in the next room
it looks like a farm
it is like the one at the corner
they sat like that until four
the house has a light in the window
somebody carried a light to the door
a cold kept her at home
the plain lies south of the hills
the box was plain
the boys were trying to open the gate
the wind began to blow from the west
a band will play in the park
the play begins at eight
the safe stands behind the counter
he is still on board
the still stood in the cellar
the waiter set the rest on the table
the right bank belongs to the town
the left wing was built later
the company was founded in the spring
the sweet was made of sugar
the critic sat in the third row
the author lives in the south
the house was sold in June
the voyage took nine days
dinner is at seven
the speech was printed on Friday
the room is on the second floor
"""

# The rest of a sentence, without sentiment.
ADJUNCTS = """
on the whole
from beginning to end
in the second act
on the first evening
in the winter
at the end of the day
for the most part
in the month of May
in my opinion
to the last
in every part
at Easter
that night
as far as I could see
when we were there
at ten in the evening
from the first day to the last
with or without the music
on our second visit
for all of us
"""
