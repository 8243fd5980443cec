"""Books give the text of their chapters in the order of the spine."""

import zipfile

import pytest

from faircut.documents.epub import EPUB
from faircut.errors import DocumentError, FaircutWarning

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
OPF = (
    '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A\n Book</dc:title>'
    "<dc:language>en-GB</dc:language></metadata><manifest>{manifest}</manifest><spine{toc}>{spine}</spine></package>"
)
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head>{}</html>'


@pytest.fixture
def book(tmp_path):
    def read(chapters, *, order=None, items="", toc="", opf=OPF, **extra):
        path = tmp_path / "book.epub"
        listed = {name: f"c{n}" for n, name in enumerate(chapters)}
        manifest = "".join(
            f'<item id="{i}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
            for name, i in listed.items()
        )
        spine = "".join(f'<itemref idref="{listed.get(name, name)}"/>' for name in order or chapters)
        members = {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/content.opf": opf.format(manifest=manifest + items, spine=spine, toc=toc),
            **{f"OEBPS/{name}": XHTML.format(body) for name, body in chapters.items() if body is not None},
            **extra.get("members", {}),
        }
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in members.items():
                if data is not None:
                    file.writestr(name, data)
        return EPUB.read(path, "book.epub")

    return read


def blocks(document):
    return [(b.kind, b.level, document.text[b.span.start : b.span.end].rstrip()) for b in document.blocks]


def test_chapters_come_in_the_order_of_the_spine_each_once(book):
    chapters = {"b.xhtml": "<h1>Two</h1><p>second", "text/a 1.xhtml": "<h1>One</h1><p>first"}
    document = book(chapters, order=["text/a 1.xhtml", "b.xhtml", "b.xhtml"])
    assert document.text == "One\n\nfirst\n\nTwo\n\nsecond\n"
    assert (document.title, document.language, document.media_type) == ("A Book", "en-GB", "application/epub+zip")


def test_notes_and_headers_of_chapters_are_text_and_navigation_is_not(book):
    body = "<nav><ol><li>Contents</ol></nav><header><h1>One</h1></header><article>a</article><aside>note</aside>"
    with pytest.warns(FaircutWarning, match="navigation"):
        assert book({"a.xhtml": body}).text == "One\n\na\n\nnote\n"


def test_page_numbers_are_those_of_the_printed_book(book):
    chapters = {
        "a.xhtml": '<p>before</p><span epub:type="pagebreak" title="12"/><p>on 12</p>'
        '<div role="doc-pagebreak" aria-label="13"/>x',
        "b.xhtml": "<p>still 13",
    }
    document = book(chapters)
    assert [b.page for b in document.blocks] == [None, 12, 13, 13]


NCX = (
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Part</text></navLabel>'
    '<content src="a.xhtml"/><navPoint><navLabel><text>Chapter One</text></navLabel><content src="a.xhtml#x"/>'
    "</navPoint></navPoint></navMap></ncx>"
)
NAV = XHTML.format(
    '<body><nav epub:type="toc"><ol><li><a href="a.xhtml">Part</a><ol><li><a href="a.xhtml#x">Chapter '
    "<i>One</i></a></li></ol></li></ol></nav></body>"
)


@pytest.mark.parametrize(
    ("item", "toc", "data"),
    [
        ('<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/>', ' toc="t"', NCX),
        ('<item id="t" href="toc.ncx" media-type="application/xhtml+xml" properties="nav"/>', "", NAV),
    ],
    ids=["EPUB 2", "EPUB 3"],
)
def test_paragraphs_that_the_contents_repeat_are_headings(book, item, toc, data):
    body = "<p>PART</p><p class=x>Chapter  One</p><p>text</p><p>Chapter One</p>"
    document = book({"a.xhtml": body}, items=item, toc=toc, members={"OEBPS/toc.ncx": data})
    assert blocks(document) == [
        ("heading", 1, "PART"),
        ("heading", 2, "Chapter One"),
        ("paragraph", None, "text"),
        ("paragraph", None, "Chapter One"),
    ]


def test_broken_contents_do_no_harm(book):
    item = '<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    assert book({"a.xhtml": "<p>text"}, items=item, toc=' toc="t"', members={"OEBPS/toc.ncx": "<ncx>"}).text == "text\n"


def test_chapters_that_are_missing_are_counted(book):
    with pytest.warns(FaircutWarning, match=r"1 of 2 chapters are missing in the archive \(OEBPS/b\.xhtml\)"):
        assert book({"a.xhtml": "<p>a", "b.xhtml": None}).text == "a\n"
    with pytest.raises(DocumentError, match="damaged: none of its 1 chapters"):
        book({"b.xhtml": None})


def test_pictures_in_the_spine_are_read_by_their_fallback(book):
    items = (
        '<item id="p" href="p.jpg" media-type="image/jpeg" fallback="c0"/>'
        '<item id="q" href="q.svg" media-type="image/svg+xml" fallback="q"/>'
    )
    assert book({"a.xhtml": "<p>a"}, order=["p", "q"], items=items).text == "a\n"


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
    '<e:EncryptedData><e:EncryptionMethod Algorithm="{}"/><e:CipherData><e:CipherReference URI="OEBPS/a.xhtml"/>'
    "</e:CipherData></e:EncryptedData></encryption>"
)


def test_protected_books_are_refused_and_scrambled_fonts_are_not(book):
    protected = {"META-INF/encryption.xml": ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")}
    with pytest.raises(DocumentError, match=r"book\.epub: encrypted \(digital rights management\)"):
        book({"a.xhtml": "<p>a"}, members=protected)
    fonts = {"META-INF/encryption.xml": ENCRYPTION.format("http://www.idpf.org/2008/embedding")}
    assert book({"a.xhtml": "<p>a"}, members=fonts).text == "a\n"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"META-INF/container.xml": None}, "not an EPUB"),
        ({"META-INF/container.xml": "<container/>"}, "damaged: its META-INF/container.xml names no package"),
        ({"META-INF/container.xml": "<container>"}, "META-INF/container.xml: damaged: not well-formed"),
        ({"OEBPS/content.opf": None}, "it has no 'OEBPS/content.opf'"),
        ({"OEBPS/content.opf": "<package/>"}, "lists no chapters"),
        (
            {"OEBPS/content.opf": '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><package>&x;</package>'},
            "declares the entity 'x'",
        ),
        ({"OEBPS/a.xhtml": "<p></p>"}, "no text in its 1 chapters"),
        ({"OEBPS/a.xhtml": b"<p>" + b"0" * 60_000_000}, "zip bomb|more than"),
    ],
    ids=range(8),
)
def test_what_is_no_readable_book_is_refused_with_the_reason(book, members, reason):
    with pytest.raises(DocumentError, match=reason):
        book({"a.xhtml": "<p>a"}, members=members)


def test_links_never_lead_out_of_the_archive(book):
    opf = OPF.replace("{manifest}", '{manifest}<item id="e" href="../../../etc/passwd.html" media-type="text/html"/>')
    with pytest.warns(FaircutWarning, match=r"missing in the archive"):
        assert book({"a.xhtml": "<p>a"}, order=["a.xhtml", "e"], opf=opf).text == "a\n"


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "a.epub"
    path.write_bytes(b"<html>")
    with pytest.raises(DocumentError, match=r"a\.epub: not what its name says"):
        EPUB.read(path, "a")
