"""
Tables of the role-labelling view: verbs of transfer, what is transferred, to whom, and what becomes of it.

Any verb takes any thing and any taker, so that the words alone do not tell who gave and who got.
"""

TRANSFER_VERBS = """
grant.give
hand.pass
lend.loan
send.post
sell.trade
show.display
offer.propose
promise.pledge
bring.carry
leave.bequeath
write.letter
read.aloud
award.give
deny.refuse
serve.food
sing.perform
throw.toss
"""

THINGS = """
the key/NN to the cellar
a long letter
the old violin
{number} tickets to {town}
{novel}
{ship}
{paper}
{prize}
a map of {river}
the deeds to {his} cottage
{few} boxes of pears
a portrait of {person}
the report on {firm}
{his} best horse
the only copy of {novel}
a story about {town}
a song about {ship}
the news from {country}
the recipe for plum cake
a book by {person}
a lamp from {country}
{his} father's/NN watch
the last apple
{few} lines about {river}
a cup of tea
the ring from {town}
"""

TAKERS = """
{person}
{person}
{person}
{firm}
{club}
{school}
{party}
{town}
the widow
a blind beggar
{his} younger brother
{his} cousin in {town}
the doctor
the new owner of {ship}
the author of {novel}
the captain of {club}
the children
the judge
a stranger from {country}
{his} partners
the editor of {paper}
"""

GIVERS = """
{person}
{person}
{person}
{firm}
{club}
{school}
{party}
{paper}
the grocer
an old soldier
the youngest sister
the mayor of {town}
the owner of {ship}
the director of {firm}
the teacher
the women of {town}
a tall sailor
nobody
the clerk
a friend from {country}
"""

FATES = """
*vanish.disappear (TMP before the trial)
*burn.fire (LOC in the stable)
*arrive.come (TMP a week too late)
*disappear.lost (LOC on the road to {town})
*be.copula (2 a fake)
*be.copula (2 worth {money})
*cost.price (1 {money})
*fall.drop (DIR into {river})
please.delight (1 {person})
anger.annoy (1 {firm})
surprise.amaze (1 the whole of {town})
ruin.destroy (1 {club})
make.render (1 {person}) famous/JJ
*turn.up up/RP (LOC in {town}) (TMP years later)
*come.origin (DIR from {country})
belong.own (2 to {person})
"""

SAYINGS = """
say.speak
claim.assert
think.believe
write.report
swear.vow
insist.maintain
hear.learn
explain.tell
admit.confess
declare.state
"""
