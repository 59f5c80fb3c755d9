"""
Words of several senses, nouns and adjectives, for the entailment view.

A sense opens with the word that all its senses share and what the sense is; then the contexts follow, verb
phrases with the verb in its base form. A line that opens with `|` goes on with the contexts of the line before.
"""

NOUN_SENSES = """
bank : the river : swim to the far bank | fish from the bank | pull the boat up on the bank | rest on the grassy bank
bank : money : owe the bank a great deal | rob the bank at noon | work in the bank as a clerk
| open an account at the bank
match : a game : lose the match by a goal | watch the match from the stand | win the match in the rain
| play the match with ten men
match : fire : strike a match in the dark | light the pipe with a match | hold a match to the paper
| burn a finger with the match
spring : water : drink from the spring | find a spring among the rocks | wash in the cold spring
| lead the horses to the spring
spring : the time of year : return in the spring | wait for the spring | plant the beans in the spring
| marry in the spring
letter : the post : send a letter to a friend | open the letter with a knife | receive a letter from home
| answer the letter at once
letter : the alphabet : leave out the last letter of the word | write a capital letter
| carve the first letter of a name | learn every letter by heart
watch : a clock : wind the gold watch | drop the watch on the stones | lose a watch and a chain
| look at the watch twice
watch : a guard : post a watch at the gate | relieve the watch at midnight | stand watch on the deck
| join the night watch
fair : a market : sell two cows at the fair | take the children to the fair | buy a ribbon at the fair
| ride to the fair in a cart
fair : justice : demand a fair trial | give a fair judgement | be fair to every pupil
| make a fair division of the goods
coach : a carriage : ride in the coach to the city | mend the wheel of the coach | drive a coach with four horses
| climb down from the coach
coach : sport : train under a new coach | coach the team in the winter | dismiss the coach after the game
| work as a football coach
seal : an animal : hunt the seal on the ice | feed the seal with fish | see a seal in the water
| shoot a seal on the rocks
seal : wax : break the seal of the letter | press the seal on the paper | put the royal seal under the order
| forge the seal of the king
chair : furniture : sit down in a chair | break the leg of the chair | mend a wooden chair
| pull the chair to the fire
chair : a post at a university : hold the chair of history | win the chair of chemistry | resign the chair of law
| apply for the chair of music
court : a judge : appear in court as a witness | go to court about the will | lie to the court under oath
| be tried by the court
court : a king : dance at court for the queen | serve at court as a page | live at court among the nobles
| paint the ladies of the court
bark : a tree : cut the bark with a knife | strip the bark from the trunk | carve a name into the bark
| boil the bark for medicine
bark : a dog : hear a bark behind the door | wake at the bark of the hound | answer the bark with a whistle
| be frightened by a loud bark
mine : coal : work down the mine | close the old mine in the hills | dig for silver in the mine | die in the mine
mine : a weapon : step on a mine in the field | lay a mine across the road | sink the ship with a mine
| clear the last mine from the harbour
organ : music : play the organ in church | practise on the organ | repair the pipes of the organ
| hear the organ from the street
organ : the body : remove the sick organ | examine every organ with care | study the organ under glass
| damage a vital organ
palm : a tree : climb the palm for the fruit | rest under a palm on the beach | plant a palm in the garden
| cut down the tall palm
palm : a hand : hold the coin in the palm | read the palm of the widow | cut the palm with a blade
| rub oil into the palm
party : politics : vote for the party in power | lead the party into parliament | leave the party after the election
| write the programme of the party
party : a feast : give a party for the neighbours | dance at the party until three | cook for the party all day
| drink too much at the party
pipe : smoking : fill the pipe with tobacco | smoke a pipe after dinner | knock out the pipe on the table
| light a pipe with a coal
pipe : water : mend the leaking pipe | lay a pipe under the street | block the pipe with leaves
| drain the tank by a pipe
plant : a flower : water the plant in the window | buy a plant in a pot | dry a rare plant in a book
| find a new plant in the hills
plant : a factory : build a plant for engines | close the plant in the summer | work nights at the steel plant
| manage the plant at the harbour
play : a theatre : write a play in five acts | see the play from a box | act in a play about a queen
| forbid the play after one night
play : children : watch the children at play | hurt a knee at play | interrupt the play in the school yard
| laugh at the play of the young dogs
sentence : prison : serve a long sentence for theft | pass sentence on the thief | reduce the sentence by a year
| await the sentence in a cell
sentence : grammar : read the sentence twice | finish the sentence with a cough | translate a Latin sentence
| cross out the whole sentence
scale : weight : stand on the scale in the shop | weigh the butter on a scale | read the scale to the ounce
| tip the scale with a thumb
scale : music : sing the scale up and down | practise a scale on the piano | play the scale too fast
| learn a new scale on the flute
table : furniture : lay the cloth on the table | sit at the table with the guests | polish the oak table
| hide under the table
table : numbers : read the figures in the table | print a table of prices | learn the table of the planets
| copy the table on page nine
trunk : luggage : pack the trunk for the voyage | lock the trunk with a key | carry the trunk to the station
| find a coat in the trunk
trunk : a tree : saw through the trunk of the oak | lean against the trunk | hollow out the trunk for a boat
| roll the trunk down the hill
tie : clothes : wear a black tie | knot the silk tie | spill soup on the tie | loosen the tie in the heat
tie : a game : end the race in a tie | play to a tie with the champion | settle the tie by a coin
| hold the rivals to a tie
will : death : leave the house to a niece in the will | read the will to the heirs | dispute the will of an aunt
| sign a new will in bed
will : strength : show a will of iron | break the will of the prisoner | obey the will of the people
| act against the will of the father
ring : jewels : lose a ring with a red stone | put the ring on a finger | sell the ring of a dead wife
| give the bride a ring
ring : a bell : answer the ring of the telephone | wait for the ring at the door | hear the ring of the church clock
| jump up at the second ring
glass : drink : fill the glass with wine | empty the glass at one draught | raise a glass to the host
| offer the guest a glass
glass : a window : break the glass with a stone | clean the dirty glass | put new glass into the frame
| press a nose against the glass
iron : metal : forge a gate of iron | melt the iron in a furnace | load the ship with iron
| break the iron with a hammer
iron : clothes : heat the iron on the stove | burn a shirt with the iron | press the collar with an iron
| put the iron away with the linen
stage : a theatre : bow on the stage | sing on the stage in the city | fall off the stage during the opera
| sweep the stage after the show
stage : a journey : finish the last stage of the voyage | walk the first stage on foot
| rest after each stage of the road | lose a mule on the second stage
wave : the sea : swim under a high wave | fear the next wave | be drowned by a wave | watch a wave break on the rocks
wave : a greeting : give a wave from the train | answer with a friendly wave | leave with a wave of the hat
| greet the crowd with a wave
star : the sky : see a star above the hills | name a star in the north | steer the boat by a star
| count every star at night
star : fame : become a star of the opera | interview the star after the film | marry a star of the theatre
| treat the singer like a star
mass : church : hear mass every morning | sing mass in the chapel | kneel through the long mass | miss mass on Sunday
mass : weight : measure the mass of the stone | lift a great mass of rock | move a mass of wet earth
| guess the mass of the planet
bow : a weapon : shoot an arrow from the bow | bend the bow with both arms | hunt the deer with a bow
| carry a bow and a knife
bow : a greeting : make a deep bow to the queen | leave the room with a bow | return the bow with a smile
| practise a bow before the mirror
board : wood : saw a board for the floor | nail a board over the window | carry a long board | paint the board white
board : a meeting : sit on the board of the firm | appear before the board | ask the board for money
| be elected to the board
felt : cloth : sew a hat of felt | line the box with felt | cut the green felt with scissors
| glue the felt to the shoes
felt : an emotion : feel pity for the widow | feel ashamed of the lie | feel great joy at the news
| feel angry with the judge
fine : a punishment : pay a fine for the noise | ask for a small fine | owe the town a fine
| get a fine for fast driving
fine : quality : wear a fine coat | drink a fine old wine | own a fine horse | buy a fine painting
light : a lamp : put out the light | read by the light in the hall | turn on the light in the cellar
| see a light in the window
light : little weight : carry a light bag | wear a light coat in summer | lift the light box with one hand
| travel with a light trunk
second : time : wait a second at the door | answer within a second | stop for a second on the stairs
| hold the breath for a second
second : rank : come in second in the race | win the second prize | marry the second son | sit in the second row
present : a gift : wrap the present in paper | send a present to the bride | open the present on Christmas morning
| buy a present for the aunt
present : attendance : be present at the trial | be present when the king died | be among those present
| remain present until the end
lead : metal : melt the lead for bullets | cover the roof with lead | sell the old lead pipe
| fish with a piece of lead
lead : a race : lose the lead near the end | be in the lead after a mile | take the lead on the last lap
| keep the lead to the finish
novel : a book : write a novel about a town | borrow the novel from a friend | finish the novel on the train
| print the novel in two volumes
novel : a new thing : try a novel method | have a novel idea | propose a novel plan | find a novel use for steam
capital : a city : travel to the capital | live in the capital of the country | move to the capital for work
| love the streets of the capital
capital : money : need more capital for the firm | put the capital into ships | lose all the capital
| borrow capital from an uncle
"""
