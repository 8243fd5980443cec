"""The language of a text is guessed from its small words, or left open when they do not decide."""

import pytest

from faircut.documents import read
from faircut.text.language import guess_language

TEXTS = {
    "en": "The boat that lies at the outer quay is not for hire, and the key is with the warden of the port.",
    "de": "Das Boot an der Mole ist nicht zu mieten, und der Schlüssel ist bei dem Wart, der für die Gäste da ist.",
    "fr": "Le bateau qui est au quai n'est pas à louer, et la clé est avec le gardien du port.",
    "es": "El barco que está en el muelle no se alquila, y la llave de la casa es para los que llegan.",
    "nl": "De boot aan de kade is niet te huur, en het is de havenmeester die de sleutel voor de gasten heeft.",
}


@pytest.mark.parametrize("code", TEXTS)
def test_a_few_sentences_are_enough(code):
    assert guess_language(TEXTS[code]) == code


@pytest.mark.parametrize(
    "text", ["", "Quay 7", "東京都は日本の首都です。" * 20, "x = 3; y = 4; print(x + y)", TEXTS["en"] + TEXTS["de"]]
)
def test_what_does_not_decide_is_left_open(text):
    assert guess_language(text) is None


def test_a_file_gets_its_language_and_with_it_its_abbreviations(tmp_path):
    (tmp_path / "a.txt").write_text(TEXTS["de"] + " Siehe auch Abs. 3 Nr. 2 der Ordnung.", encoding="utf-8")
    assert read(tmp_path / "a.txt").language == "de"


def test_the_labelled_corpora_get_the_language_that_they_are_in(shared_data):
    from faircut.documents import read_corpus

    for name, code in (("xquad_de", "de"), ("xquad_en", "en")):
        for document in read_corpus(shared_data / name / "corpus.jsonl.gz"):
            assert guess_language(document.text) == code
