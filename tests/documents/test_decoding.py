"""Text in old encodings is read as what it says, with a warning that names the encoding; garbled text is an error."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.documents import read
from faircut.documents.decoding import decode, decode_strictly
from faircut.documents.encoding_guess import guesses
from faircut.errors import DocumentError, FaircutWarning

SENTENCES = {
    "de": [
        "Die Fähre fährt im Sommer stündlich über den Fluss, und für Räder ist Platz.",
        "Am Abend öffnet das Wirtshaus, und die Gäste hören die Glocken läuten.",
        "Größere Hunde müssen draußen bleiben, weil der Hof zu klein ist.",
    ],
    "fr": [
        "Le marché est ouvert à huit heures, et les pêcheurs y vendent des crevettes.",
        "Où est la clé de la cave que le voisin a prêtée à sa sœur ?",
        "Après l'été, la rivière baisse et les bateaux restent près du bord.",
    ],
    "pl": [
        "Łódź płynie wzdłuż brzegu, a dzieci rzucają kamienie do wody.",
        "Jeśli jutro będzie padać, zostaniemy w domu i upieczemy ciasto.",
        "Książka leży na półce obok okna, gdzie śpi żółty kot.",
    ],
    "cs": [
        "Příští vlak jede až večer, takže si můžeme dát ještě oběd.",
        "Na kopci stojí starý mlýn, který už dlouho nemele žádnou mouku.",
        "Děti běžely přes louku k řece a smály se.",
    ],
    "hu": [
        "A kert végében álló öreg diófa alatt ült és könyvet olvasott.",
        "Az eső elállt, és a gyerekek újra kimentek játszani az udvarra.",
        "Nem tudom, hogy hol van a kulcs, de majd később megkeressük őt.",
    ],
    "tr": [
        "Çocuklar bahçede oynuyor ve büyükanne mutfakta çay pişiriyor.",
        "Yağmur yağdığı için gemi bugün karşı kıyıya geçemedi.",
        "Bu sokağın sonunda küçük bir fırın var, ekmeği çok güzel.",
    ],
    "ru": [
        "Летом паром ходит каждый час, и на нём есть место для велосипедов.",
        "Вечером в деревне слышно, как звонят колокола старой церкви.",
        "Книга лежит на полке возле окна, где спит рыжая кошка.",
    ],
    "el": [
        "Το καλοκαίρι το πλοίο φεύγει κάθε ώρα και έχει χώρο για ποδήλατα.",
        "Το βιβλίο είναι στο ράφι δίπλα στο παράθυρο, εκεί όπου κοιμάται η γάτα.",
        "Όταν βρέχει, τα παιδιά μένουν στο σπίτι και διαβάζουν.",
    ],
    "th": [
        "เรือข้ามฟากออกทุกชั่วโมงในฤดูร้อน และมีที่สำหรับจักรยาน",
        "หนังสือวางอยู่บนชั้นข้างหน้าต่างที่แมวชอบนอน",
        "วันนี้ฝนตกหนัก เด็กจึงอยู่บ้านกับแม่",
    ],
    "ja": [
        "夏の間、渡し船は一時間ごとに出て、自転車も載せることができます。",
        "本は窓のそばの棚に置いてあり、そこで猫が眠っている。",
        "雨が降ったので、子どもたちは家で本を読んでいました。",
    ],
    "zh": [
        "夏天渡船每小时开一次，船上也有地方放自行车。",
        "书放在窗边的架子上，猫就睡在那里。",
        "今天下雨，孩子们在家里看书，我们明天再去河边。",
    ],
    "tw": [
        "夏天渡船每小時開一次，船上也有地方放腳踏車。",
        "書放在窗邊的架子上，貓就睡在那裡。",
        "今天下雨，孩子們在家裡看書，我們明天再去河邊。",
    ],
    "ko": [
        "여름에는 나룻배가 한 시간마다 떠나고 자전거를 실을 자리도 있다.",
        "책은 창가의 선반 위에 있고 고양이는 그곳에서 잠을 잔다.",
        "비가 와서 아이들은 집에서 책을 읽었습니다.",
    ],
}
ENCODINGS = {
    "de": ("windows-1252", "iso-8859-1", "iso-8859-15", "macroman", "cp850"),
    "fr": ("windows-1252", "iso-8859-15"),
    "pl": ("windows-1250", "iso-8859-2"),
    "cs": ("windows-1250", "iso-8859-2"),
    "hu": ("windows-1250", "iso-8859-2"),
    "tr": ("windows-1254", "iso-8859-9"),
    "ru": ("windows-1251", "koi8-r", "iso-8859-5", "cp866"),
    "el": ("windows-1253", "iso-8859-7"),
    "th": ("cp874",),
    "ja": ("shift_jis", "euc-jp"),
    "zh": ("gb18030", "gb2312"),
    "tw": ("big5",),
    "ko": ("euc-kr",),
}
PAIRS = [(language, encoding) for language, encodings in ENCODINGS.items() for encoding in encodings]
LINES = ["", "Item 1.2 (see http://example.org/a?b=c)", "| a | b |", "x = 3;", "2024-01-05,17.5,OK"]


@pytest.mark.parametrize(("language", "encoding"), PAIRS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_text_of_some_sentences_is_read_as_what_it_says(language, encoding, data):
    chosen = data.draw(st.lists(st.sampled_from(SENTENCES[language]), min_size=2, max_size=6, unique=True))
    between = data.draw(st.lists(st.sampled_from(LINES), max_size=4))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join([*between, *chosen, ""])
    raw = text.encode(encoding)
    with pytest.warns(FaircutWarning, match="a.txt: not UTF-8, read as "):
        assert decode_strictly(raw, "a.txt") == text


@given(st.text(st.characters(max_codepoint=127), max_size=200), st.sampled_from(["utf-8", "ascii"]))
def test_ascii_and_utf8_are_read_in_silence(text, encoding):
    if "\0" not in text and "\x1b$" not in text:
        assert decode_strictly(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("language", [*SENTENCES, "en"])
def test_utf16_and_utf32_without_a_mark_are_read_where_they_are_evident(encoding, language):
    text = "\n".join(SENTENCES.get(language, ["Hello."])) + "\n"
    assert decode_strictly(text.encode(encoding), "a.txt") == text
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize("encoding", ["iso2022_jp", "iso2022_jp_ext", "iso2022_kr"])
def test_encodings_of_seven_bits_are_known_by_their_escape_sequences(encoding):
    text = "\n".join(SENTENCES["ko" if encoding.endswith("kr") else "ja"])
    assert decode_strictly(text.encode(encoding), "a.txt") == text
    with pytest.raises(DocumentError, match=r"a\.txt: not text .*escape sequences"):
        decode_strictly(b"one \x1b$)A0!\x0e~~\x7f", "a.txt")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Gr\xfc\xdfe aus K\xf6ln, das ist f\xfcr dich".encode("cp1252"), "WINDOWS-1252"),
        ("“Well,” she said – and didn’t come back.".encode("cp1252"), "WINDOWS-1252"),
        (SENTENCES["ru"][0].encode("koi8-r"), "KOI8-R"),
        (SENTENCES["ja"][0].encode("shift_jis"), "SHIFT_JIS"),
    ],
)
def test_the_warning_names_the_encoding_as_other_programs_do(raw, name):
    with pytest.warns(FaircutWarning, match=rf"a\.txt: not UTF-8, read as {name}, in which its letters make sense\.$"):
        decode_strictly(raw, "a.txt")


def test_a_short_text_that_could_be_two_things_is_read_and_the_doubt_is_said():
    with pytest.warns(FaircutWarning, match="nearly as likely: if it reads wrong, save it as UTF-8"):
        assert decode_strictly("Señor".encode("cp1252"), "a.txt") == "Señor"


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_text(seed):
    from random import Random

    raw = bytes(Random(seed).choices([*range(32, 256)], k=200))
    with pytest.raises(DocumentError, match=r"no older encoding that is known|binary"):
        decode_strictly(raw, "a.txt")
    controls = bytes(Random(seed).choices([*range(1, 256)], k=200))
    with pytest.raises(DocumentError, match="a binary file, or damaged"):
        decode_strictly(controls, "a.txt")


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_give_text_or_a_typed_error(raw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        for read_bytes in (decode, decode_strictly):
            try:
                found = read_bytes(raw, "a")
            except DocumentError as error:
                found = str(error).removeprefix("a: ")
            assert isinstance(found, str)


def test_a_few_wrong_bytes_in_a_long_utf8_text_are_replaced_and_counted():
    text = "\n".join(SENTENCES["ru"] * 3)
    with pytest.warns(FaircutWarning, match=r"a\.txt: 1 characters are not valid in UTF-8 and were replaced"):
        assert decode_strictly(text.encode() + b"\xff", "a.txt") == text + "\ufffd"


def test_a_c_string_with_its_nul_is_binary_and_no_utf16():
    for raw in (b"abc\0", b"a\0\0\0b\0\0\1", b"\x7fELF\0\1\xff\xfe", b"\0" * 8):
        with pytest.raises(DocumentError, match="not text: a NUL byte at position"):
            decode_strictly(raw, "a.txt")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.js"])
def test_readers_of_text_read_old_encodings(tmp_path, name):
    text = "name;note\n" + "\n".join(f"{number};{line}" for number, line in enumerate(SENTENCES["ja"] * 2))
    (tmp_path / name).write_bytes(text.encode("shift_jis"))
    with pytest.warns(FaircutWarning, match="read as SHIFT_JIS"):
        assert "自転車も載せる" in read(tmp_path / name).text


def test_a_mail_without_a_charset_is_read(tmp_path):
    body = "\n".join(SENTENCES["ru"])
    (tmp_path / "a.eml").write_bytes(b"Subject: x\n\n" + body.encode("koi8-r"))
    with pytest.warns(FaircutWarning, match="read as KOI8-R"):
        assert SENTENCES["ru"][1] in read(tmp_path / "a.eml").text


def test_the_best_guess_comes_first_with_its_score():
    found = guesses("\n".join(SENTENCES["zh"]).encode("gb18030"))
    assert found[0].encoding == "gb18030"
    assert [guess.score for guess in found] == sorted((guess.score for guess in found), reverse=True)


def test_a_large_file_is_judged_by_its_beginning():
    text = "Größe über alles, für die Gäste.\n" * 100_000
    raw = text.encode("cp1252")
    with pytest.warns(FaircutWarning, match="WINDOWS-1252"):
        assert decode_strictly(raw, "a.txt") == text


@pytest.mark.parametrize(
    "label", ["rot13", "hex", "base64", "zlib", "bz2", "uu", "quopri", "idna", "undefined", "utf-7"]
)
def test_a_label_that_names_no_encoding_of_text_is_not_followed(tmp_path, label):
    page = tmp_path / "page.html"
    page.write_bytes(f"<meta charset={label}><p>Boats moor here.</p>".encode())
    assert read(page).text == "Boats moor here.\n"
