"""
Words of several senses of which one at least is a verb, for the entailment view.

`nli_nouns.py` tells how the table is read. Verbs share the form of their past with the other senses. What a
verb's sense is stands behind `to`; another verb behind a slash rules it out (`to get up / stay in bed`).
"""

VERB_SENSES = """
ran : to be in charge / be without a business : run a small bakery | run the post office | run an inn with two maids
| run the family firm | run a school for girls
ran : to hurry / keep still : run up the stairs | run across the square | run after the cart | run from the dogs
| run to the door
left : to go away / stay : leave the city by the early train | leave the room in tears | leave the country for good
| leave at dawn | leave before the speech
left : to give at death / keep all to the end : leave a fortune to a nephew | leave the farm to the eldest son
| leave a ring to the cook | leave all the books to the college
left : a side : turn to the left at the church | sit on the left of the bishop | look to the left
| keep to the left on the road
rose : to get up / stay in bed : rise at six | rise before the sun | rise late and with a headache
| rise from a sick bed
rose : to rebel / obey : rise against the king | rise in arms against the landlord | rise against the new tax
| rise with the miners against the owners
rose : a flower : buy a red rose at the market | cut a rose from the bush | wear a rose on the coat
| give the dancer a rose
drew : to make a picture / make no picture : draw the old mill | draw a face in chalk | draw a map of the island
| draw the cat on the wall
drew : to pull : draw the sword | draw a cart up the hill | draw the curtain | draw a knife from the belt
| draw the net into the boat
broke : to do damage / do no harm : break the window with a ball | break a plate in the kitchen
| break the lock of the chest | break a tooth on the bread
broke : to be untrue / be faithful : break a promise to a friend | break the oath of the order | break the treaty
| break an engagement
broke : to be poor / be rich : be broke after the races | be broke at the end of the month | go broke within a year
| be broke and far from home
struck : to deal a blow / deal no blow : strike the table with a fist | strike the thief on the head
| strike the ball over the wall | strike a nail into the post
struck : to stop work / go on with the work : strike for higher wages | strike with the other miners
| strike for a shorter day | strike against the owners
raised : to lift a thing up : raise the lid of the box | raise a hand in school | raise the flag at noon
| raise the anchor
raised : to bring up children / be childless : raise three sons alone | raise a family on the farm
| raise an orphan girl | raise seven daughters in the city
held : to have a firm grip / let go : hold the rope with both hands | hold the child by the arm | hold a candle
| hold the horse by the bridle
held : to have an opinion : hold that the earth is flat | hold that women should vote | hold that war is a sin
| hold that the king was mad
charged : to attack / retreat : charge the enemy on horseback | charge up the hill with the guards
| charge the guns at dawn | charge the gate with an axe
charged : to ask for money / work for nothing : charge ten pounds for the repair | charge too much for the soup
| charge every guest a shilling | charge a fee for the advice
fired : to shoot / hold the fire : fire a gun from the window | fire at the soldiers | fire twice into the air
| fire the cannon at noon
fired : to dismiss staff / keep all the staff : fire the lazy cook | fire half of the clerks
| fire the gardener for theft | fire the new secretary
shot : to use a gun / use no gun : shoot a bird in the marsh | shoot the wolf with a rifle | shoot at a target
| shoot the old horse
shot : to make pictures : shoot a film in the desert | shoot the last scene at night | shoot a film about the war
| shoot the wedding with a camera
shot : a noise : hear a shot in the night | be woken by a shot | count the second shot | start at the sound of a shot
served : to bring food : serve the soup to the guests | serve dinner at eight | serve the wine in silver cups
| serve cold meat with bread
served : to be a soldier / keep out of the army : serve in the army for years | serve under the general in the war
| serve with the guards | serve as a gunner at the front
passed : to succeed / fail : pass the examination for the college | pass the test in the spring
| pass the driving test | pass every examination at school
passed : to go by / stop : pass the church on the left | pass the cottage at a gallop | pass the harbour in the fog
| pass the ruined mill on foot
ordered : to give a command / give no command : order the soldiers to fire | order the crew into the boats
| order the men to march | order the guard out of the room
ordered : to ask for goods : order a steak and a beer | order a new coat from the tailor | order coal for the winter
| order two books by post
treated : to give medicine : treat the wounds of the soldiers | treat a child with fever
| treat the sick in the hospital | treat a broken leg
treated : to pay for others / pay for nobody : treat the friends to dinner | treat the children to cakes
| treat all the sailors to a drink | treat the aunt to an opera
played : to make music / be silent : play the violin at the wedding | play a waltz on the piano
| play the flute by the fire | play a slow tune
played : to take part in a game / take no part in games : play cards with the sailors | play chess in the cafe
| play football on the beach | play tennis with the doctor
covered : to write a report : cover the trial for the newspaper | cover the war for a magazine
| cover the election from the capital | cover the murder for the evening paper
covered : to hide a thing / leave it bare : cover the mirror with a cloth | cover the body with a coat
| cover the hole with leaves | cover the bed with a sheet
beat : to win / lose : beat the champion at chess | beat the rival by a mile | beat all the runners
| beat the visitors in the final
beat : to be violent / be gentle : beat the boy with a stick | beat the donkey | beat the servant with a belt
| beat the dog in the yard
bore : to endure something : bear the pain without a cry | bear the insult in silence | bear the cold of the north
| bear the noise of the street
bore : to have a child / have no child : bear a son in the autumn | bear twins in the hospital | bear the king an heir
| bear a girl in the year of the flood
bore : a dull man : marry an old bore | avoid the bore at the club | sit beside a dreadful bore at dinner
| fall asleep over the talk of a bore
caught : to be ill / be in good health : catch a cold at the funeral | catch the fever in the south
| catch the measles from a cousin | catch a bad cough
caught : to make a catch / catch nothing : catch the ball with one hand | catch a thief in the act
| catch a trout in the stream | catch the cat by the tail
closed : to shut a thing / leave it open : close the door | close the window against the rain
| close the book with a sigh | close the lid of the piano
closed : to bring it to an end : close the meeting with a speech | close the debate at ten
| close the concert with a hymn | close the trial after a week
followed : to understand : follow the argument of the lawyer | follow the lecture on light
| follow the French of the guide | follow the proof with ease
followed : to go behind / go in front : follow the thief through the streets | follow the guide up the path
| follow a dog into the woods | follow the cart to the river
missed : to be sad / be glad to be alone : miss the mother at school | miss a dead friend | miss the old house
| miss the wife at night
missed : to be late / be in time : miss the last train | miss the boat to the island | miss the coach by a minute
| miss the beginning of the opera
read : to look at a text / be unable to read : read a novel in bed | read the paper at breakfast
| read a letter from the bank | read the notice on the door
read : to study : read law at the university | read medicine in the capital | read history under a famous man
| read for a degree in music
pressed : to make clothes smooth / wear creased clothes : press the trousers with an iron
| press a shirt for the morning | press the collar | press the silk dress
pressed : to use pressure : press the witness for an answer | press the minister to resign | press the guest to stay
| press the bank for a loan
turned : to become something / remain unchanged : turn pale at the news | turn traitor in the war
| turn red with anger | turn grey within a year
turned : to move round : turn the key in the lock | turn the wheel to the left | turn the page with a wet finger
| turn the boat towards the shore
settled : to pay / owe money : settle the bill at the hotel | settle the account with the grocer
| settle all the debts of the firm | settle the rent with the landlady
settled : to make a home / wander : settle in a village by the sea | settle on a farm in the west
| settle in the capital for good | settle near the lake
drove : to go by car / walk : drive to the hotel in a new car | drive through the town too fast
| drive a car along the coast | drive home from the office
drove : to use force : drive the enemy out of the town | drive the widow to despair | drive the rival into exile
| drive the tenants from the land
saw : to use the eyes / be blind : see a ship on the horizon | see the king at the theatre
| see the lights of the harbour | see a stranger in the garden
saw : to understand : see the reason for the rule | see the point of the joke | see the mistake in the plan
| see the danger of the law
saw : a tool : cut the plank with a saw | sharpen the saw | borrow a saw from the carpenter | hang the saw on the wall
found : to make a discovery : find a coin in the street | find the key under the mat | find the body in the lake
| find a nest in the hedge
found : to judge : find the prisoner guilty | find the book dull | find the new maid honest
| find the lecture too long
ground : the earth : fall to the ground | sleep on the cold ground | bury the coins in the ground
| sit down on the wet ground
ground : to make powder : grind the coffee in the kitchen | grind the corn for the horses | grind pepper over the meat
| grind the bones to dust
wound : an injury : die of a wound in the leg | wash the wound with brandy | bind up the wound
| show the doctor a deep wound
wound : to turn a thing round and round : wind the clock every night | wind the wool into a ball
| wind a scarf round the neck | wind the rope on the drum
well : water : dig a well in the yard | fall into the well | draw a bucket from the well | drink from the old well
well : to be in good health / be ill : feel well after the holiday | be well again after the fever
| look well in spite of the war | sleep well and get well
kind : to be friendly / be cruel : be kind to the orphan | be kind to animals | be kind and patient with the old aunt
| be very kind to strangers
kind : a sort : sell every kind of fish | know this kind of bird | try a new kind of soap | grow a rare kind of apple
patient : a sick man : visit the patient in hospital | operate on the patient | feed the patient with a spoon
| send the patient home
patient : to be calm / be hasty : be patient with the pupils | remain patient through the delay
| be patient in the long queue | stay patient with the child
"""
