"""What the stories of the coreference view are told with; `pattern.py` tells how frames are read."""

# By kind: what an entity may be introduced as, and after the colon the wider words that fit all of its kind.
ROLES = {
    "town": "village port hamlet fortress spa harbour : town place",
    "firm": "brewery shipyard bank bakery foundry publisher : firm company business",
    "ship": "steamer schooner brig frigate whaler trawler : ship vessel",
    "novel": "tragedy ballad opera comedy romance : book work",
    "school": "seminary college academy : school",
    "club": "rowers climbers fencers skaters cyclists : players team",
}

# Wider words for people, by gender.
PEOPLE = {"f": "woman lady", "m": "man fellow"}

# What stands before a role when it is introduced.
ADJECTIVES = "old young famous poor small quiet proud new great shy"

# What is said of nobody: each `it` here refers to nothing.
WEATHER = """
it rained/VBD until noon
it was/VBD a cold morning
it snowed/VBD in the hills
it was/VBD late in the autumn
it was/VBD dark by five
it grew/VBD cold towards evening
it was/VBD market day
it was/VBD too early for lamps
"""

# A person and a second one of the story, who stands for {any}.
BETWEEN = """
!meet.encounter (1 {any}) (LOC at the station)
!visit.call (1 {any}) (TMP on Sunday)
!thank.praise (1 {any}) (MNR with a smile)
!see.notice (1 {any}) (LOC from the bridge)
!praise.commend (1 {any}) (LOC in a letter)
!mention.name (1 {any}) (TMP more than once)
!speak.talk (1 of {any}) (TMP all evening)
!think.ponder (1 of {any}) (TMP every day)
!wait.stay (1 for {any}) (TMP in vain/NN)
!remember.memory (1 {any}) (MNR very well)
!like.enjoy (1 {any}) (TMP from the first)
!ask.inquire (1 about {any}) (TMP again)
!dream.sleep (1 of {any})
!forget.memory (1 {any}) (TMP by the spring)
!write.letter (1 to {any}) (TMP in March)
!return.topic (2 to {any}) (TMP at last)
"""
