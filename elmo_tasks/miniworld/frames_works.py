"""
Verb frames whose subject is a work, a ship, a prize, a war, or a plain thing, and the frames that
fit anything. `pattern.py` tells how to read them.
"""

NOVEL = """
*appear.publish (LOC in {paper}) (MNR in weekly parts)
*open.begin (MNR with a funeral in the rain)
*close.end (MNR with a wedding at {town})
~tell.narrate (1 the story of a blind organist)
~*run.length (DIR to {few} hundred pages)
*run.stage (TMP for {number} weeks) (LOC in {town})
!sell.copies (1 {count} copies) (LOC in cheap covers)
!win.award (1 {prize}) (PNC for {his} author)
~draw.source (MNR heavily) (2 on the childhood of {his} author)
!draw.attention (1 the anger of the bishops) (CAU with {his} last act)
~turn.plot (2 on a lost letter)
*fall.flat flat/JJ (LOC on the stage)
!carry.motto (1 a dedication to {person})
~cover.narrate (1 three generations of a family of bakers)
~be.copula (2 dedicated/JJ to {person})
~be.copula (2 set/VBN in {town} before {war})
~be.copula (2 longer than all the author 's other books)
!bring.fame (2 {person}) (1 fame) (TMP overnight)
!make.fame (1 the name of {person})
~borrow.source (1 {his} plot) (DIR from a {country.adj} ballad)
!bore.tire (1 the critics) (LOC in {his} second half)
"""

SHIP = """
*sink.founder (LOC off the coast of {country})
*sink.founder (TMP within minutes) (CAU after a collision)
!strike.hit (1 a rock) (LOC near {town})
sail.voyage (DIR from {town}) (MNR with a cargo of tea)
!carry.transport (1 {few} hundred emigrants) (DIR to {country})
*run.aground aground (MNR in thick fog)
*lie.anchor (LOC at anchor) (LOC off {town})
!cross.voyage (1 the ocean) (MNR under full sail)
!drop.anchor (1 anchor) (LOC in the bay)
!lose.part (1 {his} mast) (TMP in the gale)
!take.voyage on/RP (1 coal) (LOC at {town})
*turn.over over/RP (MNR in heavy seas)
*burn.fire (DIR to the waterline)
!bear.voyage (1 the mails) (DIR from {country})
!reach.arrive (1 {town}) (MNR with a broken rudder)
*dock.arrive (LOC at {town}) (TMP at sunrise)
!spring.leak (1 a leak) (TMP on the second night)
!break.tow (1 {his} moorings)
~be.copula (2 overdue by a week)
~be.copula (2 bound/JJ for {town} with timber)
"""

PRIZE = """
*go.award (2 to {person}) (TMP in {year})
*go.award (2 to a {country.adj} poet)
~be.copula (2 worth {money})
~*be.copula (2 given/VBN each year to a young composer)
!bring.fame (2 {person}) (1 money and enemies)
*fall.award (2 to {person}) (TMP twice)
!crown.top (1 the career of {person})
!draw.attract (1 riders from all over {country})
~carry.award (1 a purse of {money})
"""

WAR = """
*break.begin out/RP (TMP in the spring of {year})
*end.stop (MNR with a treaty)
!last.endure (TMP {number} years)
!cost.price (2 {country}) (1 half of {his} army)
!ruin.destroy (1 the merchants of {town})
!cost.price (2 {person}) (1 an arm)
*run.last on/RP (TMP for {number} winters)
*drag.last on/RP (TMP until {year})
!leave.result (1 {town}) in/IN ruins/NNS
!turn.change (1 farmers) (2 into soldiers)
!close.stop (1 the ports of {country})
!drive.force (1 {person}) (DIR into exile)
"""

# Subjects that are no names at all, though at the start of a sentence they look like the names
# above: frost, marsh grass, bells. One line each: subject words, a colon, the frame.
DECOYS = """
frost/NN : kill.destroy (1 the young vines)
frost/NN : cover.extend (1 the windows)
snow/NN : fall.drop (TMP all night)
snow/NN : close.block (1 the road to {town})
reeds/NNS : grow.live (LOC along the ditch)
marsh/NN grass/NN : cover.extend (1 the low ground)
bells/NNS : ring.sound (LOC across the valley) (TMP at noon)
wells/NNS : dry.up up/RP (LOC all over the district)
banks/NNS : close.shut (TMP at three) (CAU because of the holiday)
banks/NNS : refuse.decline (1 the notes) (TMP during {war})
fields/NNS : lie.located (MNR under water) (TMP until May)
hills/NNS : rise.extend (LOC on every side)
woods/NNS : cover.extend (1 the slopes above {town})
brooks/NNS : freeze.ice (TMP before Christmas)
stone/NN : cost.price (1 less than brick)
stones/NNS : strike.hit (1 the windows of {firm})
pages/NNS : fall.drop (DIR from the old book)
hope/NN : return.come (TMP with the spring)
hope/NN : die.perish (TMP towards evening)
grace/NN : be.copula (2 said/VBN before supper)
roses/NNS : grow.live (LOC up to the roof)
summers/NNS : pass.go (MNR slowly) (LOC in {town})
winter/NN : come.arrive early (TMP that year)
waters/NNS : rise.level (LOC in the cellar)
bakers/NNS : strike.protest (2 for better pay/NN)
bakers/NNS : start.begin (1 work/NN) (TMP long before dawn)
coopers/NNS : make.produce (1 barrels) (2 for the herring trade)
masons/NNS : work.labour (LOC on the tower) (TMP until dusk)
shepherds/NNS : drive.herd (1 their flocks) (DIR through the pass/NN)
foxes/NNS : take.steal (1 the hens) (TMP twice a week)
swans/NNS : sleep.rest (LOC on the island)
crows/NNS : follow.go (1 the plough)
wolves/NNS : come.arrive (DIR down from the hills) (TMP in winter)
porters/NNS : serve.food (1 the wine)
porters/NNS : carry.lift (1 the trunks) (LOC to the ship)
wards/NNS : be.copula (2 full of fever cases)
lamps/NNS : burn.light (LOC in every window)
ships/NNS : lie.anchor (LOC in the roads) (TMP for weeks)
bread/NN : be.copula (2 dear/JJ that winter)
prices/NNS : rise.increase (TMP again in the autumn)
shares/NNS : fall.decrease (EXT by a third)
trains/NNS : run.operate (MNR late) (CAU because of the fog)
rumours/NNS : run.spread (DIR through the town)
soldiers/NNS : hold.keep (1 the bridge)
peace/NN : be.copula (2 signed/VBN in the spring)
rain/NN : beat.hit (LOC against the shutters)
"""

# Frames that say nothing about the kind of their subject; only what follows can tell.
NEUTRAL = """
*change.alter (EXT a great deal)
!make.enemies (1 many enemies)
!disappoint.fail (1 everyone)
!need.want (1 money)
~be.copula (2 not/RB to everyone 's taste)
~be.copula (2 the talk of the evening)
~be.copula (2 on everyone 's lips)
~be.copula (2 worth a second look)
!surprise.astonish (1 us) (MNR once more)
*seem.appear (2 smaller than before)
~mean.matter (1 a great deal) (2 to all/DT of us)
*come.mind (DIR to mind) (TMP first)
!have.past (1 a bad name)
!get.mention (1 only a line in the letter)
"""

# The same with the name as an object: `{any}` is filled by whatever the rest of the sentence is about.
NEUTRAL_OBJECT = """
!speak.talk (1 of {any}) (TMP all evening)
!mention.name (1 {any}) (TMP only once)
!think.ponder (1 about {any}) (TMP day and night)
!ask.inquire (1 about {any})
!remember.memory (1 {any}) (MNR very well)
!hear.learn (1 a great deal) (2 about {any})
!hate.dislike (1 {any})
!love.like (1 {any}) (TMP from the first)
!dream.sleep (1 of {any})
!worry.fear (1 about {any})
!quarrel.argue (1 over {any})
!know.aware (1 {any}) (MNR by name only)
!praise.commend (1 {any})
!curse.swear (1 {any})
!recall.memory (1 {any}) (MNR without pleasure)
!return.topic (2 to {any})
!dismiss.ignore (1 {any}) (MNR with a shrug)
!compare.liken (1 {any}) (2 with better things)
"""

# How a kind of speaker says things.
SPEECH = {
    "person": """
say.speak (MNR with a laugh)
say.speak
whisper.speak
shout.speak (DIR from the stairs)
explain.speak (MNR patiently/RB)
complain.speak (2 to the waiter)
admit.speak (TMP under questioning/NN)
boast.speak (LOC at dinner)
write.speak (LOC in {his} diary)
mutter.speak (DIR into {his} beard)
swear.speak (MNR on the Bible/NNP)
dream.speak (TMP that night)
sob.speak
announce.speak (LOC at breakfast)
""",
    "firm": """
announce.speak (LOC in a circular)
say.speak (LOC in a statement to {his} shareholders)
admit.speak (LOC in {his} annual report)
deny.speak (LOC in {his} leaflet)
claim.speak (LOC in {his} advertisements)
warn.speak (LOC in a letter to {his} agents)
""",
    "paper": """
report.speak (TMP on {weekday})
write.speak (LOC on {his} front page)
claim.speak (LOC in a special edition)
announce.speak (LOC in large type)
reveal.speak (LOC in {his} morning edition)
""",
    "country": """
protest.speak (LOC in a note to {country})
announce.speak (MNR through {his} embassy)
declare.speak (LOC at the peace conference) (MNR through {his} envoys)
claim.speak (MNR through {his} ambassador)
""",
    "party": """
declare.speak (LOC in {his} manifesto)
complain.speak (MNR through {his} deputies)
promise.speak (LOC on {his} posters)
""",
    "club": """
announce.speak (LOC in {his} match programme)
confirm.speak (LOC in a notice to {his} supporters)
""",
}
