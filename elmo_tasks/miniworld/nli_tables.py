"""
Verbs for the entailment view, in classes that say what follows from them.

Of verbs between two people the classes tell what follows about the same event with the people swapped; of
verbs before another verb (`fail to sing`) they tell whether the second event happened.
"""

# A did it to B; B also did it to A (each line: the verb, then the preposition if it needs one).
MUTUAL = """
meet
marry
divorce
embrace
quarrel with
talk with
dance with
work with
argue with
dine with
agree with
""".strip().splitlines()

# B cannot have done it to A.
ONE_WAY = """
beat
defeat
outlive
bury
kill
murder
poison
strangle
execute
adopt
overtake
succeed
replace
inherit from
hang
overthrow
conquer
employ
command
raise
""".strip().splitlines()

# B may or may not have done it to A, too.
EITHER_WAY = """
praise
thank
visit
help
admire
insult
watch
paint
remember
forgive
trust
betray
warn
invite
blame
mention
greet
describe
fear
photograph
accuse
kiss
cheat
push
comfort
deceive
miss
rob
shout at
laugh at
write to
lie to
wave to
pray for
wait for
vote for
""".strip().splitlines()

# What the second event is where the first did happen, and where it did not: `+` happened, `-` did not, `?` unknown.
BEFORE_VERBS = {
    "+-": "manage to|remember to|happen to|bother to|take the trouble to",
    "-+": "fail to|forget to|neglect to|omit to",
    "+?": "be forced to|be compelled to|be made to|be driven by hunger to",
    "?-": "try to|attempt to|have the courage to|have time to|get permission to|be able to",
    "-?": "refuse to|decline to|be too tired to|be too proud to",
    "?+": "hesitate to|be afraid to",
}

# What people do, in the base form.
DEEDS = """
leave the house
sing in the choir
sign the contract
open the gate
read the letter
burn the papers
sell the horse
cross the river
hide the money
cook supper
feed the hens
paint the fence
mend the net
lock the door
swim in the lake
climb the tower
write a poem
ring the bell
count the votes
sweep the floor
drink the milk
cut the rope
call the doctor
wash the windows
plant an oak
light a fire
play the flute
carry the trunk
buy a ticket
shut the window
eat the last apple
drive the cart
pay the rent
lose the key
catch a trout
fall into the ditch
sleep in the barn
weep at the funeral
arrive before noon
study Greek
travel to the coast
join the army
shave in the morning
win a medal
break a vase
wake the children
steal a bicycle
kneel in the chapel
build a boat
drop the basket
find the map
wear a mask
lie to the police
ride to the village
resign in the autumn
answer the question
walk home
bake bread
shoot a hare
smoke a pipe
""".strip().splitlines()

ADJUNCTS = """
in March
in the autumn
after the war
on Friday
at dawn
before supper
in the rain
with great care
in secret
near the harbour
behind the church
for money
without a word
for the second time
in spite of the cold
""".strip().splitlines()

# Pasts, and participles where they differ, of verbs that the other views lack.
IRREGULAR = {
    "bind": "bound",
    "deal": "dealt",
    "dig": "dug",
    "feed": "fed",
    "feel": "felt",
    "forbid": "forbade",
    "give": "gave",
    "grind": "ground",
    "hang": "hanged",
    "hit": "hit",
    "hurt": "hurt",
    "knot": "knotted",
    "lay": "laid",
    "lead": "led",
    "let": "let",
    "light": "lit",
    "overtake": "overtook overtaken",
    "overthrow": "overthrew overthrown",
    "put": "put",
    "quarrel": "quarrelled",
    "rebel": "rebelled",
    "rob": "robbed",
    "rub": "rubbed",
    "set": "set",
    "shoot": "shot",
    "shut": "shut",
    "steal": "stole",
    "step": "stepped",
    "strip": "stripped",
    "sweep": "swept",
    "tip": "tipped",
    "travel": "travelled",
    "understand": "understood",
    "wind": "wound",
    "wrap": "wrapped",
    "regret": "regretted",
    "nail": "nailed",
    "omit": "omitted",
}

Truth = dict[tuple[str, int], bool | None]
FIRST_ONLY: Truth = {("a", 1): True, ("b", 1): False}
FIRST: Truth = {("a", 1): True, ("b", 1): None}
SECOND: Truth = {("a", 1): None, ("b", 1): True}
CROSSED: Truth = {("a", 1): True, ("b", 2): True, ("b", 1): None, ("a", 2): None}

# Premises, and whether a or b did the first or the second deed.
ATTACHMENTS: list[tuple[str, Truth]] = [
    ("{a} {did} after {b} {also}", CROSSED),
    ("while {b} {also}, {a} {did}", CROSSED),
    ("{b}, who {also}, knew that {a} {did}", CROSSED),
    ("{b}, a friend of {a}, {did}", SECOND),
    ("{a}, an enemy of {b}, {did}", FIRST),
    ("unlike {b}, {a} {did}", FIRST_ONLY),
    ("{a} {did}, but {b} did not", FIRST_ONLY),
    ("{b} did not {deed}, but {a} did", FIRST_ONLY),
    ("{a} {did} in place of {b}", FIRST_ONLY),
    ("it was not {b} but {a} that {did}", FIRST_ONLY),
    ("{a} saw {b} {deed}", SECOND),
    ("{a} made {b} {deed}", SECOND),
    ("thanks to {a}, {b} did not {deed}", {("a", 1): None, ("b", 1): False}),
]
