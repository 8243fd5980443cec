"""What a full stop after a word means in each language: abbreviations, and words that begin sentences.

A language code comes in, a `Table` goes out. The tables of yasbd-lib (39 languages, kept by others) are the ground;
what our gold sentences showed to be missing or wrong in them is added or taken away here.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Table:
    """Words in lower case, without their last full stop."""

    inside: frozenset[str]  # seldom the end of a sentence: titles, "e.g.", "vs."
    before_number: frozenset[str]  # an abbreviation only in front of a number, a bracket or a single letter: "Art. 5"
    starters: frozenset[str]  # begin a sentence even after an abbreviation
    ordinals: bool  # "am 3. Mai": a number with a full stop counts


_LIBRARY_LANGUAGES: Final = frozenset(
    {
        *("af", "am", "ar", "bg", "bn", "cs", "da", "de", "el", "en", "es", "fa", "fr", "hi", "ht", "hy", "id", "it"),
        *("ja", "kk", "ko", "lt", "ml", "mr", "my", "nl", "pl", "pt", "ro", "ru", "sk", "sv", "sw", "th", "tr", "uk"),
        *("ur", "vi", "zh"),
    }
)
"""Those with a table in yasbd-lib. It imports a module by the name it is given, so no other name may reach it."""

_ORDINAL_LANGUAGES: Final = frozenset(
    {"cs", "da", "de", "et", "fi", "hr", "hu", "is", "lt", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr", "tr"}
)

LANGUAGES: Final = _LIBRARY_LANGUAGES | _ORDINAL_LANGUAGES
"""The codes that anything is known about."""

_INSIDE: Final[dict[str, str]] = {
    "*": "al approx dept bldg nos viz cf e.g i.e vs incl ph.d et u.a",
    "en": "rs messrs hon prof",
    "de": (
        "abb abs abschn al alt anm art aufl az bd begr bes bez bgl bspw bzgl bzw ca dgl ebd eigtl einschl entspr "
        "erg evtl ff fn frl gem ges gez ggf ggü grds hr hrn hrsg i.d.r inkl insb insbes jew kap lfd max mind min "
        "mio mrd nr o.g rd resp rn s sog st str tab tel tel.-nr tsd u.u urt usf v verf vgl vorl wg z.b z.t zit "
        "ziff zz zzgl zzt"
    ),
    "fr": (
        "al app apr art av bd boul bull cass cf chap civ coll crim dr env ex fig hab ibid intro jr m me mgr mlle "
        "mm mme mmes mr n no obs op p.ex pp pr préf rev sq sqq ste st soc suiv tel tél trad vol"
    ),
    "es": (
        "admón art arts av avda cap cfr cía d da depto dpto dr dra dras dres ed ee ej excmo excma fig gral ilmo "
        "ilma ing lic lda ldo máx mín núm núms pág págs p.ej prof profa pról sec sr sra sras sres srta sto sta "
        "tel ud uds vd vds vid vol"
    ),
    "it": (
        "arch art artt avv cap cfr dott dr dssa ecc ed egr es fig geom gent ill ing lett mons n nr on op p pag "
        "pagg prof profssa rag s sec seg segg sig sigg sigra ss tab tel v vol"
    ),
    "pt": (
        "art arts av cap cf cia d dr dra dras drs ed eng ex exa exmo fig ilmo inc n núm obs p pág págs prof profa "
        "r sec sr sra sras srs sto sta tel v vol"
    ),
    "nl": (
        "a.u.b afb art b.v bijv bl blz ca cf d.w.z dhr dr drs ds enz evt fig hfst i.p.v incl ing ir jhr lid m.b.t "
        "m.a.w max mej mevr min mr mw n.a.v nl nr nrs o.a o.l.v p pag par prof resp tel vgl vlg z.g zgn zgn"
    ),
    "ru": (
        "акад англ арх см ср стр рис табл гл г гг обл р руб тыс млн млрд им ул пр пер просп пл д кв корп проф доц "
        "др напр т п с ч ст п.п тел н э в вв изд кн лат наст нем прим ред рр соч сокр т.е т.к т.н т.д т.п усл фр "
        "чел"
    ),
    "pl": (
        "al art b bp dr gen godz hab im inż itp jw kard kpt ks lek m.in mgr min mjr np nr ok os oz par pl pkt płk "
        "pn por pol prof proc przyp pt r red rozdz ryc rys s św str szt t tab tel tj tys tzn tzw ul ust w wg wyd "
        "zob zł"
    ),
    "hi": "डॉ प्रो श्री श्रीमती सुश्री पं कु स्व नं पृ सं ई वि मो रु क्र ले जन मे कै प्रा",
    "ar": "د أ م ه هـ ق ص ج ط ت س ر ب ا ع أ.د ق.م د.ت ص.ب ش مج هاتف",
    "fa": "ق م ه ش ص ج د",
}
_BEFORE_NUMBER: Final[dict[str, str]] = {
    "*": "p pp fig figs no nos vol art sec ch cl eq ref refs § tab",
    "de": "s nr art abs ziff kap tab abb bd rn § jh",
    "hi": "धारा",
}
_NOT_ABBREVIATIONS: Final[dict[str, str]] = {
    "*": "long pen est ms so fam col deg go sun sat mon wed",
    "en": "no al et",
    "de": "weg ring ufer damm geb so mi do mo sa fr di al alt min art long est",
    "fr": "mer pl est cap dom",
    "nl": "weg mei",
    "es": "es ex",
    "it": "es on v",
}
_STARTERS: Final[dict[str, str]] = {
    "en": (
        "but and if in on at for no nobody nothing there some many most all each every both neither once since "
        "while after before although because as to with our your their his her its my as one two"
    ),
    "de": (
        "das damit dabei dafür dagegen daher daran darauf darin davon dazu im in am an auf aus bei bis für mit "
        "nach ohne seit über um unter von vor während weil wenn zu zum zur und aber auch nicht nur so alle viele "
        "niemand keine kein er sie es wir ihr ich sein seine ihre diese dieser dort hier nun jetzt beide einige "
        "mehr sonst trotzdem obwohl als ob dass weiter"
    ),
    "fr": (
        "elle il ils elles on nous vous je tu le la les un une des ce cette ces dans en à au par pour sur "
        "personne rien mais et ou si son sa ses leur leurs tout tous chaque après avant c’est"
    ),
    "es": (
        "el la los las un una en a al por para con sin él ella ellos nadie nada pero y o si no su sus todo todos "
        "cada desde hasta"
    ),
}


@cache
def table(language: str) -> Table:
    """The table of a two-letter language code; a language that nobody has a table for gets the common words only."""
    rules = _library_rules(language)
    own = _words(_INSIDE, language)
    dropped = _words(_NOT_ABBREVIATIONS, language) - own
    inside = _library_words(rules, "TITLE_ABBRVS", "INLINE_ONLY_ABBRVS", "CORP_ENTITY_ABBRVS")
    numbered = _library_words(rules, "REFERENCE_ABBRVS", "DATE_ABBRVS") | _words(_BEFORE_NUMBER, language)
    starters = _library_words(rules, "COMMON_SENT_STARTERS") | frozenset(_STARTERS.get(language, "").split())
    return Table((inside - dropped) | own, numbered | own, starters, language in _ORDINAL_LANGUAGES)


def _words(words: dict[str, str], language: str) -> frozenset[str]:
    return frozenset(word.lower() for word in f"{words.get('*', '')} {words.get(language, '')}".split())


def _library_rules(language: str) -> Any:
    """The rules of yasbd for the language, or its common ones."""
    from yasbd.rules import load_rule
    from yasbd.rules.base import Rules

    return load_rule(language, ext_registry={}) if language in _LIBRARY_LANGUAGES else Rules


def _library_words(rules: Any, *names: str) -> frozenset[str]:
    return frozenset(word.lower().rstrip(".") for name in names for word in getattr(rules, name, ()))
