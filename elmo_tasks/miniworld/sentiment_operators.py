"""What stands around the words of the reviews that praise and blame, and what it does to their sentiment."""

# In front of an adjective or a noun phrase, by what they do to its sentiment; every file has them.
OPERATORS = {
    "negated": """
not
hardly
scarcely
never
by no means
less than
not exactly
not , I fear ,
""",
    "reversed_fully": """
far from
anything but
not at all
not in the least
the reverse of
""",
    "strengthened": """
nothing less than
never less than
more than
nothing if not
""",
    "unchanged": """
nothing but
always
no less than
""",
}

# In front of an adjective.
DEGREES = {"strengthened": "very truly most", "weakened": "rather somewhat fairly"}

# In front of a noun such as `charm`.
QUALITY_OPERATORS = {
    "unchanged": """
full of
not without some
all
nothing but
rich in
never short of
""",
    "negated": """
without
short of
free from
without a trace of
wanting in
not all
""",
}

# In front of a noun phrase: what was thought of the thing, and what it turned out to be.
FRAMES = {
    "unchanged": """
it was
it was
we were given
everybody called it
it turned out to be
it has always been
it remains
nobody could deny that it was
I still think it
you will find
""",
    "negated": """
we had hoped for
we had feared
it might have been
it would have been
nobody could call it
I no longer think it
we were spared
it is no longer
""",
}

# Around an adjective.
COMPARISONS = {
    "unchanged": """
as {} as ever
as {} as the last one
no less {} than the first
as {} as one could be
""",
    "negated": """
less {} than the last one
not as {} as they say
no longer {}
not so {} as it was
too little {}
""",
}

# Who finds something good or bad, how they say it, and what stands before an adjective elsewhere; lines are split.
JUDGES = """
they
everybody
the critics
my friends
the papers
the public
his sister
the old men
most of us
the neighbours
the guests
my brother
some people
our host
the students
her family
"""
JUDGING = """
called
had called
thought
had thought
found
had found
considered
had considered
believed
supposed
declared
had declared
pronounced
had expected to find
deemed
wished to call
"""
COPULAS = """
was
seemed
had been
proved
had seemed
looked
remained
became
was thought
appeared
sounded
was called
had become
turned out
"""

# Before a first clause that yields to the second one; before a second one that prevails, and one that yields.
YIELDING_FIRST = ("although", "though", "while")
PREVAILING = ("but", "yet", "and yet")
YIELDING_SECOND = ("although", "though", "even if")
