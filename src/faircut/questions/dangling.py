"""Words by which a question points at a text that its reader does not see ("this section", "the table above").

A small list for some languages, meant to be read and to be added to. A question that is limited to one document may
speak of "this contract": only pointers to a part of it dangle then.
"""

import re
from functools import cache

__all__ = ["dangling_reference"]

# For each language: what points, parts of a text, kinds of a whole text, and phrases that always dangle.
_LISTS: dict[str, tuple[str, str, str, str]] = {
    "en": (
        r"(?:this|these|that|the above|the following|the given|the provided|the preceding)",
        r"(?:sections?|paragraphs?|passages?|excerpts?|tables?|figures?|lists?|examples?|sentences?|snippets?|equations?)",
        r"(?:documents?|texts?|articles?|chapters?|stud(?:y|ies)|papers?|reports?|pages?|contexts?|books?|contracts?|"
        r"agreements?|polic(?:y|ies)|manuals?)",
        r"(?:the (?:passages?|excerpts?|text|context|snippet)\b(?! of)|the authors?\b(?!s? of\b)|"
        r"the (?:table|figure|section|list|paragraph|example)s? (?:above|below)|"
        r"(?:mentioned|described|listed|shown|stated|discussed|given) (?:above|below|here|earlier|in (?:it|the text))|"
        r"according to (?:it|them|the (?:document|article|study|paper|report|section|table|paragraph))\b)",
    ),
    "de": (
        r"(?:diese[rmsn]?|obige[rmsn]?|folgende[rmsn]?|vorliegende[rmsn]?|de[rm] obigen|das obige)",
        r"(?:Abschnitt\w*|Absatz\w*|Absätze\w*|Passage\w*|Auszug\w*|Tabelle\w*|Abbildung\w*|Liste\w*|Beispiel\w*|Satz\w*)",
        r"(?:Dokument\w*|Text\w*|Artikel\w*|Kapitel\w*|Studie\w*|Bericht\w*|Seite\w*|Kontext\w*|Buch\w*|Vertrag\w*)",
        r"(?:(?:oben|unten|hier|im Text) (?:genannt|beschrieben|erwähnt|gezeigt|aufgeführt)\w*|"
        r"(?:der|die) Autor(?:en|in)?\b(?! (?:von|des|der)\b)|"
        r"(?:laut|gemäß) (?:dem|der) (?:Text|Dokument|Artikel|Abschnitt|Tabelle|Passage))",
    ),
    "fr": (
        r"(?:cet?|cette|ces|le présent|la présente)",
        r"(?:sections?|paragraphes?|passages?|extraits?|tableaux?|figures?|listes?|exemples?|phrases?)",
        r"(?:documents?|textes?|articles?|chapitres?|études?|rapports?|pages?|contextes?|livres?|contrats?|accords?)",
        r"(?:ci-(?:dessus|dessous)|mentionnée?s? (?:ici|plus haut)|(?:l'|l’)auteur\b(?! d)|"
        r"(?:selon|d'après|d’après) (?:le|la) (?:texte|document|passage|section|tableau))",
    ),
    "es": (
        r"(?:est[eao]s?|es[eao]s?|el presente|la presente)",
        r"(?:sección|secciones|párrafos?|pasajes?|fragmentos?|tablas?|figuras?|listas?|ejemplos?|frases?)",
        r"(?:documentos?|textos?|artículos?|capítulos?|estudios?|informes?|páginas?|contextos?|libros?|contratos?)",
        r"(?:mencionad[oa]s? (?:arriba|aquí|anteriormente)|el autor\b(?! de)|según el (?:texto|documento|pasaje))",
    ),
    "it": (
        r"(?:quest[oaie]|il presente|la presente)",
        r"(?:sezion[ei]|paragraf[oi]|pass[oi]|brani?|estratt[oi]|tabell[ae]|figur[ae]|list[ae]|esempi?|fras[ei])",
        r"(?:document[oi]|test[oi]|articol[oi]|capitol[oi]|studi?o?|rapport[oi]|pagin[ae]|contest[oi]|libr[oi]|"
        r"contratt[oi])",
        r"(?:(?:sopra|qui) (?:menzionat|descritt|indicat)[oaie]|l['’]autore\b(?! d)|"
        r"secondo il (?:testo|documento|brano))",
    ),
    "pt": (
        r"(?:est[ea]s?|ess[ea]s?|o presente|a presente)",
        r"(?:seção|secção|seções|parágrafos?|passagens?|passagem|trechos?|tabelas?|figuras?|listas?|exemplos?|frases?)",
        r"(?:documentos?|textos?|artigos?|capítulos?|estudos?|relatórios?|páginas?|contextos?|livros?|contratos?)",
        r"(?:mencionad[oa]s? (?:acima|aqui)|o autor\b(?! d)|de acordo com o (?:texto|documento|trecho))",
    ),
    "nl": (
        r"(?:deze|dit|bovenstaande|onderstaande)",
        r"(?:secties?|paragra(?:af|fen)|alinea'?s?|passages?|fragment(?:en)?|tabel(?:len)?|figu(?:ur|ren)|lijst(?:en)?)",
        r"(?:document(?:en)?|tekst(?:en)?|artikel(?:en)?|hoofdstuk(?:ken)?|studies?|rapport(?:en)?|pagina'?s?|boek(?:en)?)",
        r"(?:hierboven|hieronder|de auteurs?\b(?! van)|volgens de (?:tekst|passage))",
    ),
}  # fmt: skip
_UNSPACED = re.compile(
    r"(?:这|這|上|下|该|該|此|この|その|上記の?|下記の?)一?"
    r"(?:节|節|段落|段|文章|文本|文|表格|表|图|圖|図|章|セクション|文書)|本(?:节|節|段|章)"
)
_HAS_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def dangling_reference(question: str, *, within: bool = False) -> str | None:
    """The first words that point at something the reader does not see; None where there are none.

    All languages of the list are looked for: a question does not say its own.

    Args:
        question: its text.
        within: the question is limited to one document, which it may then speak of.
    """
    for pattern in _patterns(within):
        if match := pattern.search(question):
            return match[0]
    unspaced = _UNSPACED.search(question) if _HAS_UNSPACED.search(question) else None
    return unspaced[0] if unspaced and not within else None


@cache
def _patterns(within: bool) -> tuple[re.Pattern[str], ...]:
    made = []
    for points, parts, wholes, phrases in _LISTS.values():
        kinds = parts if within else f"(?:{parts}|{wholes})"
        made.append(re.compile(rf"\b(?:{points} (?:\w+ )?{kinds}\b|{phrases})", re.IGNORECASE))
    return tuple(made)
