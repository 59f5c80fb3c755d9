"""
Names put together by rule.

A stem says nothing about what it names: the same stems serve people, places, organisations, ships
and books, so that only the context tells the type. Some stems are common words (`Reed`, `Marsh`).
"""

from elmo_tasks.miniworld.dice import stable_number
from elmo_tasks.miniworld.tables import entries

ENGLISH_FIRST = entries("""
ald ash bar beck bram bran brin cal carl clay col cor dal den dun eld ell fair farn garth gil hal
har hath hol ing kel ken kil lang lin lor mal mel mer nor oak orm pem pen ral ram ris rush sel shel
stan sten strat tarn thorn thur tre wal war wen wey whit wil win wood wyn
""")

ENGLISH_LAST = entries("""
bourne by combe cott croft dale den don dyke field fold ford gate grave ham hurst ing ington land
leigh ley low mere more ness over ridge rick shaw stead ston thorpe ton vale wardine wick with worth
""")

FOREIGN_FIRST = entries("""
bel bor bran cas cer dob dor drag fal fer gor gren hol ilm jar kar kas kor kras lan leb lim mar
mol mont mor nov ober or os pal pet pol pres rad ros rov sal sav sil stav tar tes tol tor ul val
var vel ver vol vos wald zab zel zor
""")

FOREIGN_LAST = entries("""
ach ano ara asco au bach berg beck dorf eau ek elli enau enko eno escu etti ic ice icz ier igny in
ino inski isch itz mann nitz olo onne oro os ova ovic stadt stein ul ura ville vik
""")

COMMON_WORDS = entries("""
Baker Banks Bell Brook Butler Cooper Cross Crow Field Fox Frost Grace Hill Hope Lamb Lamp Marsh
Mason Page Pike Pool Porter Reed Rivers Rose Shepherd Stone Summers Swan Ward Waters Wells Wolf
Woods Winter
""")

WOMEN = entries("""
Ada Adela Agatha Agnes Alma Amelia Beatrice Bertha Blanche Carla Cecily Celia Clara Cora Dora
Edith Elena Elise Elsa Estella Ethel Eva Flora Frieda Greta Hannah Harriet Helga Hilda Ida Irma
Johanna Judith Klara Lena Lotte Lucia Mabel Magda Marta Maud Mina Nadia Nora Olga Petra Rosa
Selma Sonia Sybil Tessa Ursula Vera Winifred
""")

MEN = entries("""
Albert Anton Arnold Bernard Boris Bruno Cecil Clement Conrad Cyril Dmitri Edgar Edmund Emil Ernst
Felix Ferdinand Gilbert Gregor Gustav Harold Hector Hugo Ivan Ivo Jakob Jonas Josef Karel Kurt
Lars Leon Luka Magnus Marek Milo Nils Oscar Otto Pavel Percy Rolf Rupert Silas Simeon Stefan
Theo Tobias Ulrich Victor Vincent Walter Wilfred
""")

DEMONYM_ENDINGS = ("ian", "ish", "ese")


def composed_stems(*, share: float = 0.085) -> list[str]:
    """
    Stems composed of a first and a last part, in a fixed order.

    # Parameters

    share : `float`
        The share of all possible compositions that the world uses.
    """
    stems: list[str] = []
    for firsts, lasts in ((ENGLISH_FIRST, ENGLISH_LAST), (FOREIGN_FIRST, FOREIGN_LAST)):
        pairs = [(first, last) for first in firsts for last in lasts]
        stems += [compose(*pair) for pair in pairs if stable_number("stem/".join(pair)) < share]
    return sorted(dict.fromkeys(stems))


def compose(first: str, last: str) -> str:
    """One stem; a letter that would stand three times in a row is dropped."""
    joined = first + last
    if first[-1] == last[0] and len(first) > 1 and first[-2] == first[-1]:
        joined = first + last[1:]
    return joined.capitalize()


def country_name(stem: str) -> str:
    """The country called after a stem, such as `Dorland` or `Casia`."""
    base = stem[:5].rstrip("aeiouy")
    return base + ("ia" if stable_number("country/" + stem) < 0.5 else "land")


def demonym(country: str) -> str:
    """The adjective that belongs to a country's name."""
    if country.endswith("ia"):
        return country + "n"
    base = country.removesuffix("land") or country
    ending = DEMONYM_ENDINGS[int(stable_number("demonym/" + country) * len(DEMONYM_ENDINGS))]
    return base.rstrip("aeiouy") + ending
