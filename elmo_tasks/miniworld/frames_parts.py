"""
Parts and belongings of an entity with a verb frame of their own, by kind of the entity.

One line each: the noun phrase, in which `{self}` is the entity, a colon, and the frame.
"""

PARTS = {
    "person": """
{self} 's hat/NN : blow.move off/RP (LOC on the bridge)
{self} 's voice/NN : !*tremble.shake (TMP at the last verse)
{self} 's hands/NNS : *shake.tremble (CAU with cold/NN)
{self} 's diary/NN : *turn.found up/RP (LOC in an attic)
{self} 's eyesight/NN : *fail.weaken (TMP in old age)
{self} 's horse/NN : *fall.drop (LOC at the last fence)
{self} 's temper/NN : ~be.copula (2 well known/JJ to the servants)
{self} 's wedding/NN : *take.happen place/NN (LOC in {town})
{self} 's beard/NN : *turn.become white (TMP within a year)
{self} 's fever/NN : *rise.level (TMP in the night)
the portrait/NN of {self} : *hang.suspend (LOC above the fireplace)
the letters/NNS of {self} : *appear.publish (TMP in {year})
{self} 's coat/NN : ~be.copula (2 torn/JJ at the elbow)
{self} 's debts/NNS : !keep.hold (1 the family) (2 in poverty)
the coffin/NN of {self} : *pass.go (DIR through the streets)
{self} 's spectacles/NNS : *lie.located (LOC on the desk)
{self} 's laughter/NN : !fill.full (1 the room)
{self} 's childhood/NN : ~be.copula (2 short and hard/JJ)
""",
    "town": """
{self} 's harbour/NN : *freeze.ice (TMP every winter)
{self} 's streets/NNS : ~be.copula (2 steep and badly lit/JJ)
the walls/NNS of {self} : *crumble.decay (TMP after the siege)
the road/NN to {self} : ~be.copula (2 blocked/JJ by fallen trees)
the roofs/NNS of {self} : *come.appear (DIR into view/NN)
{self} 's market/NN : *close.shut (TMP at noon)
the cathedral/NN of {self} : ~*date.origin (DIR from the twelfth century)
the bells/NNS of {self} : *ring.sound (2 for the dead/NNS)
{self} 's fishermen/NNS : *stay.remain (LOC on shore)
the inhabitants/NNS of {self} : flee.escape (DIR to the woods)
{self} 's granary/NN : explode.burst (TMP in {year})
the climate/NN of {self} : ~be.copula (2 mild and damp/JJ)
the hotels/NNS of {self} : ~be.copula (2 empty/JJ out of season)
{self} 's water/NN supply/NN : *fail.stop (TMP in the drought)
the last bus/NN to {self} : *leave.go (TMP at nine)
the lights/NNS of {self} : *go.stop out/RP (TMP one by one)
""",
    "river": """
the waters/NNS of {self} : *rise.level (EXT a foot an hour)
the banks/NNS=river of {self} : ~be.copula (2 covered/JJ with willows)
the bridge/NN over {self} : *collapse.fall (CAU in the flood)
the source/NN of {self} : *lie.located (LOC in a glacier)
the barges/NNS on {self} : *wait.stay (TMP for the thaw)
""",
    "country": """
{self} 's army/NN : *retreat.withdraw (DIR across the river)
the coast/NN of {self} : ~be.copula (2 rocky and wild/JJ)
the king/NN of {self} : !sign.treaty (1 the peace)
{self} 's currency/NN : *lose.value half/NN of its value
the constitution/NN of {self} : *date.origin (DIR from {year})
the mountains/NNS of {self} : *rise.extend (LOC beyond the lake)
{self} 's exports/NNS : *double.grow (TMP in ten years)
the flag/NN of {self} : *fly.wave (LOC over the fort)
""",
    "firm": """
{self} 's profits/NNS : *rise.increase (EXT by a fifth)
{self} 's shares/NNS : *drop.decrease (EXT by {number} points)
the workers/NNS of {self} : strike.protest (2 for shorter hours)
{self} 's creditors/NNS : meet.gather (LOC in {town})
the board/NN=directors of {self} : !approve.accept (1 the sale)
{self} 's factory/NN : *burn.fire down/RP (TMP in {month})
the chimneys/NNS of {self} : *smoke.emit (TMP day and night)
{self} 's customers/NNS : !complain.protest (2 about the prices)
{self} 's ledgers/NNS : *vanish.disappear (TMP before the trial)
the managers/NNS of {self} : resign.quit (MNR in a body)
{self} 's catalogue/NN : *run.length (DIR to {few} hundred pages)
the bankruptcy/NN of {self} : !ruin.destroy (1 hundreds of small savers)
{self} 's machines/NNS : *stand.be_idle idle (TMP for a month)
""",
    "club": """
{self} 's fans/NNS : invade.enter (1 the pitch)
{self} 's defence/NN : *hold.resist firm/RB (TMP until the whistle)
the {self} bench/NN : *rise.stand (MNR as one/CD man)
{self} 's second/JJ goal/NN : come.arrive (DIR from a free kick/NN)
{self} 's winning/JJ run/NN : *end.stop (TMP on {weekday})
the {self} dressing/NN room/NN : ~be.copula (2 silent/JJ after the match/NN)
{self} 's ground/NN : !hold.contain (1 {count} spectators)
""",
    "school": """
{self} 's dormitories/NNS : ~be.copula (2 cold and crowded/JJ)
the library/NN of {self} : !own.possess (1 {count} volumes)
{self} 's pupils/NNS : !wear.clothes (1 straw hats)
the lectures/NNS at {self} : *begin.start (TMP at eight)
{self} 's chapel/NN : *lose.part its roof/NN (CAU in the storm)
the examiners/NNS of {self} : !fail.reject (1 half of the class)
""",
    "paper": """
{self} 's front/JJ page/NN : !carry.publish (1 a picture of the wreck)
{self} 's circulation/NN : *fall.decrease (DIR to {count})
the printers/NNS of {self} : strike.protest (TMP for a week)
{self} 's correspondent/NN : *lie.deceive (2 about the battle)
the puzzle/NN in {self} : ~be.copula (2 too easy/JJ)
""",
    "party": """
{self} 's candidate/NN : !win.election (1 the seat/NN) (MNR by nine votes)
{self} 's voters/NNS : *stay.remain (LOC at home/NN)
the programme/NN of {self} : !promise.vow (1 land and bread)
{self} 's majority/NN : *shrink.decrease (DIR to three)
the left/JJ wing/NN of {self} : *walk.go out/RP (TMP before the vote/NN)
""",
    "novel": """
the hero/NN of {self} : ~be.copula (2 a drunken judge/NN)
{self} 's last/JJ chapter/NN : ~be.copula (2 far too long/JJ)
the plot/NN of {self} : ~*turn.depend (2 on a stolen will/NN)
the manuscript/NN of {self} : *lie.located (LOC in a bank=money vault)
the first/JJ act/NN of {self} : !take.last (1 an hour)
the proofs/NNS of {self} : *arrive.come (TMP on {weekday})
the style/NN of {self} : !owe.debt (1 much/NN) (2 to the ballads)
""",
    "ship": """
{self} 's crew/NN : mutiny.rebel (LOC off {town})
{self} 's boilers/NNS : *burst.explode (TMP on the second day)
the wreck/NN of {self} : *lie.located (LOC in twenty fathoms)
{self} 's cargo/NN : *shift.move (CAU in the swell/NN)
the passengers/NNS of {self} : *take.enter to the boats
the masts/NNS of {self} : *snap.break (MNR like twigs)
""",
    "prize": """
the jury/NN of {self} : *split.divide (MNR four to three)
the money/NN from {self} : *go.spend (MNR on drink/NN)
""",
    "war": """
the causes/NNS of {self} : *remain.stay obscure
the dead/NNS of {self} : *lie.buried (LOC behind the church)
the veterans/NNS of {self} : march.walk (DIR past the palace)
""",
}

# Clauses with an expletive or no subject of interest; `{any}` is the topic.
OPENERS = {
    "town": """
there was/VBD a fire in {self}
there were/VBD no doctors/NNS in {self} that summer/NN
it rained/VBD in {self} for nine days
nobody in {self} had/VBD ever seen/VBN the sea
it was/VBD market day/NN in {self}
the train to {self} left/VBD without us
there is/VBZ a statue of a bear/NN in {self}
we reached/VBD {self} soaked to the skin
from {self} the road/NN climbs/VBZ to the pass/NN
they spent/VBD the night in {self}
all of {self} turned/VBD out to see/VB the elephant
""",
    "river": """
no boat/NN could cross/VB {self} that day
we fished/VBD for trout in {self}
there is/VBZ no ford across {self}
""",
    "country": """
wolves still roam/VBP the forests of {self}
nobody grows/VBZ rice in {self}
there was/VBD famine in {self} that year
tea first reached/VBD {self} in {year}
""",
    "person": """
there was/VBD no trace/NN of {self} in the house
nobody had/VBD told/VBN {self} about the baby
it was/VBD to {self} that she owed/VBD her life
the dog/NN barked/VBD at {self}
somebody had/VBD slapped/VBN {self}
the old lady kissed/VBD {self} and wept/VBD
nobody believed/VBD {self} under oath
the doctors/NNS gave/VBD {self} a month to live/VB
a bee stung/VBD {self} on the neck
the police let/VBD {self} go/VB
they buried/VBD {self} at sea
the hat/NN did/VBD not suit/VB {self}
a tree/NN fell/VBD on {self}
""",
    "firm": """
nobody would lend/VB {self} another penny
the government/NN gave/VBD {self} the order/NN for the rifles
there were/VBD no buyers for {self}
the sailors refused/VBD to load/VB for {self}
the bank=money ruined/VBD {self} in court
the receivers broke/VBD up {self} and sold/VBD the parts
investors deserted/VBD {self}
the tax/NN cost/VBD {self} {money}
""",
    "club": """
the referee/NN awarded/VBD {self} a penalty
rain/NN saved/VBD {self} from defeat/NN
the draw/NN gave/VBD {self} an easy tie/NN
some {count} people watched/VBD {self} on {weekday}
a late goal/NN rescued/VBD {self}
""",
    "school": """
no woman had/VBD ever taught/VBN at {self}
the boys/NNS came/VBD home/RB from {self} at Easter
the board=directors cut/VBD the grant/NN to {self}
""",
    "paper": """
nothing about it appeared/VBD in {self}
the news/NN report/NN in {self} was/VBD false
the magistrates banned/VBD {self} in {month}
""",
    "party": """
the peasants voted/VBD for {self}
the poor/NNS had/VBD nothing to hope/VB from {self}
the king sent/VBD for the leaders/NNS of {self}
""",
    "novel": """
the audience/NN hissed/VBD {self}
every schoolboy can recite/VB the opening/NN of {self}
the magistrates cut/VBD {self} by half
the curtain/NN fell/VBD on {self} at midnight
""",
    "ship": """
there were/VBD rats on {self}
no lifeboat could reach/VB {self} in time/NN
the storm/NN drove/VBD {self} onto the rocks
a tug towed/VBD {self} into port/NN
""",
    "prize": """
nobody deserved/VBD {self} less
the judges withheld/VBD {self} that year
""",
    "war": """
nobody in the village spoke/VBD of {self}
prices doubled/VBD during {self}
""",
}
