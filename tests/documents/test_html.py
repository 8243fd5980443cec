"""Web pages become the blocks that a browser shows."""

import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents.html import HTML, html_page
from faircut.documents.html_source import MAX_NESTING, as_html, decode_html, names, tame
from faircut.documents.markdown import markdown_blocks
from faircut.errors import DocumentError, FaircutWarning


def pieces(html):
    """Kind (with level) and text of each block, whatever is left out."""
    return [(p.kind + str(p.level or ""), p.text) for p in html_page(html, "page").pieces]


def texts(html):
    return [text for _, text in pieces(html)]


@pytest.fixture
def page(tmp_path):
    def read(content, name="page.html"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return HTML.read(path, name)

    return read


# ---------------------------------------------------------------- white space and inline elements


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>  a \n\t b  </p>", "a b"),
        ("<p>a <b> b</b> <i>c </i> d</p>", "a b c d"),
        ("<p>a<b>b</b>c", "abc"),
        ("<p>a&nbsp; &nbsp;b", "a\xa0 \xa0b"),
        ("<p>a <br>  b", "a\nb"),
        ("<p>a<!-- no -->b<wbr>c<span></span> d", "abc d"),
        ("<p>AT&amp;T &lt;x&gt; &eacute; &#x1F986; &zzz;", "AT&T <x> é 🦆 &zzz;"),
        ("<p>Donau&shy;dampf", "Donaudampf"),
        ("<p>日本\n語\nabc", "日本語 abc"),
        ("<p>10<sup>-6</sup> m<sup>2</sup> H<sub>2</sub>O<sup>[1]</sup>", "10^-6 m2 H2O[1]"),
        ("<p>say <q>yes</q>", "say “yes”"),
        ("<p>see<img alt='a duck' src='x'>here <img src='y'><img alt=''>", "see a duck here"),
        ("<p><a href='http://x.invalid/'>link</a>.", "link."),
        ("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", "漢字"),
        ("<p style='white-space:pre-wrap'>a   b\n  c</p>", "a   b\n  c"),
        ("<p style='white-space: pre-line'>a   b\n  c</p>", "a b\nc"),
        ("<p>x <math alttext='e=mc^2'><mi>e</mi></math> y", "x e=mc^2 y"),
        (r"<p><math><semantics><mi>x</mi><annotation>\frac12</annotation></semantics></math>", r"\frac12"),
    ],
)
def test_inline_text_is_what_a_browser_shows(html, text):
    assert pieces(html) == [("paragraph", text)]


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<template><p>x</p></template>",
        "<noscript>x</noscript>",
        "<span hidden>x</span>",
        "<span style='color:red; Display : none'>x</span>",
        "<i aria-hidden=true>x</i>",
        "<dialog>x</dialog>",
        "<select><option>x</select>",
        "<textarea>x</textarea>",
        "<svg><title>x</title><text>x</text></svg>",
        "<iframe>x</iframe>",
        "<a class='headerlink x'>x</a>",
    ],
)
def test_what_is_not_shown_is_no_text(hidden):
    assert texts(f"<p>a</p>{hidden}<p>b</p>") == ["a", "b"]


def test_hidden_inline_text_does_not_break_its_paragraph():
    assert texts("<p>a <span style='display:none'>x</span>b") == ["a b"]


def test_closed_panels_are_text_that_a_reader_wants():
    html = "<details><summary>s</summary><p>t</details><div aria-hidden=true>u</div><p hidden=until-found>v"
    assert texts(html) == ["s", "t", "u", "v"]


# ---------------------------------------------------------------- blocks


def test_headings_have_their_level_and_one_line():
    html = (
        "<h1>A <br>b</h1><h6>c</h6><div role=heading aria-level=3>d</div><h2></h2><h2><div>1</div><div>Title</div></h2>"
    )
    assert pieces(html) == [("heading1", "A b"), ("heading6", "c"), ("heading3", "d"), ("heading2", "1 Title")]


def test_a_heading_that_is_never_closed_does_not_swallow_the_page():
    html = "<h1>Title<p>" + "long text " * 50 + "<ul><li>item</ul>"
    assert [kind for kind, _ in pieces(html)] == ["heading1", "paragraph", "list1"]


def test_signs_of_tools_beside_headings_are_no_text():
    html = "<h2>Name<a href='#n'>¶</a> <span class='mw-editsection'>[edit]</span><button>Copy</button></h2>"
    assert pieces(html) == [("heading2", "Name")]
    assert pieces("<h3><button>Question?</button></h3>") == [("heading3", "Question?")]


def test_paragraphs_end_at_blocks_and_at_blank_lines():
    html = "a<p>b<div>c<section>d</section>e</div>f<br><br>g<br>h<hr>i"
    assert texts(html) == ["a", "b", "c", "d", "e", "f", "g\nh", "i"]


def test_lists_nest_and_count():
    html = """<ul><li>one<ul><li>two <p>more</p><ol start=3><li>three<li value=9>nine<li>ten</ol>after</ul>tail
              <li><ul><li>only nested</ul></ul><ol reversed><li>b<li>a</ol>"""
    assert pieces(html) == [
        (
            "list1",
            "- one\n  - two\n    more\n    3. three\n    9. nine\n    10. ten\n    after\n  tail\n  - only nested",
        ),
        ("list1", "2. b\n1. a"),
    ]


def test_malformed_lists_lose_nothing():
    assert texts("<ul>stray<li>a</li><ul><li>b</li></ul></ul>") == ["- stray\n- a\n  - b"]
    assert texts("<li>a<li>b") == ["a", "b"]


def test_definitions_lie_below_their_terms():
    assert texts("<dl><dt>T<dd>one<dd>two<dt>U<div><dd><p>p<p>q</div></dl>") == [
        "- T\n  - one\n  - two\n- U\n  - p\n    q"
    ]


def test_task_lists_are_written_as_in_markdown():
    assert texts("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>") == ["- [x] a\n- [ ] b"]


def test_a_list_of_cards_gives_its_headings():
    html = "<ul><li><h3>A</h3><p>a</p></li><li><h3>B</h3><p>b</p></li></ul>"
    assert pieces(html) == [("heading3", "A"), ("paragraph", "a"), ("heading3", "B"), ("paragraph", "b")]


def test_a_quote_is_one_block_with_all_that_is_in_it():
    html = "<blockquote><p>a</p><p>b<blockquote>c</blockquote><ul><li>d</ul></blockquote>"
    assert pieces(html) == [("quote", "a\n\nb\n\nc\n\n- d")]


def test_a_quote_that_only_indents_a_part_of_the_page_keeps_its_parts():
    html = "<blockquote><h2>H</h2><p>a</blockquote>"
    assert pieces(html) == [("heading2", "H"), ("quote", "a")]


def test_code_keeps_every_space_and_tab():
    html = "<pre><code>\ndef f():\n\treturn  1\n\n    # <b>x</b>\n</code></pre>"
    assert pieces(html) == [("code", "def f():\n\treturn  1\n\n    # x")]
    assert pieces("<pre>\n    a<br>  b</pre>") == [("code", "    a\n  b")]


def test_lines_of_code_in_elements_of_their_own_stay_lines_and_their_numbers_go():
    html = "<pre><div><span class=lineno>1</span>a</div><div><span class=lineno>2</span>  b</div></pre>"
    assert pieces(html) == [("code", "a\n  b")]


def test_a_listing_with_its_numbers_in_a_table_is_code():
    html = "<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>a\n  b</pre></td></tr></table>"
    assert pieces(html) == [("code", "a\n  b")]


def test_prose_in_pre_is_paragraphs_with_their_lines():
    paragraph = "\n".join(["These are the plain words of an old letter, cut"] * 6)
    assert pieces(f"<pre>{paragraph}\n \n{paragraph}\n</pre>") == [("paragraph", paragraph)] * 2
    assert pieces(f"<pre><code>{paragraph}\n\n{paragraph}</code></pre>")[0][0] == "code"


# ---------------------------------------------------------------- tables


def table(html):
    return [[c.strip() for c in line.strip("|").split(" | ")] for line in pieces(html)[-1][1].split("\n")]


def test_merged_cells_are_repeated_and_header_rows_joined():
    html = """<table><caption>Cap</caption><tr><th rowspan=2>A<th colspan=2>B<tr><th>b1<th>b2
              <tbody><tr><td rowspan=0>1<td>2<td>3|4<tr><td>5<td>6<tfoot><tr><td colspan=3>sum</table>"""
    assert pieces(html) == [
        ("paragraph", "Cap"),
        (
            "table",
            "| A | B / b1 | B / b2 |\n| --- | --- | --- |\n| 1 | 2 | 3\\|4 |\n| 1 | 5 | 6 |\n| sum | sum | sum |",
        ),
    ]


def test_the_foot_of_a_table_comes_last_wherever_it_is_written():
    html = "<table><thead><tr><th>h<th>i<tfoot><tr><td>f<td>g<tbody><tr><td>b<td>c</table>"
    assert table(html)[2:] == [["b", "c"], ["f", "g"]]


def test_a_table_without_header_has_an_empty_one():
    assert texts("<table><tr><td>1<td>2<tr><td>3<td>4</table>") == ["|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"]


def test_header_cells_of_rows_are_no_header_row():
    assert table("<table><tr><th>a<td>1<tr><th>b<td>2</table>")[2:] == [["a", "1"], ["b", "2"]]


def test_spacer_columns_and_rows_go_and_rows_below_merged_cells_keep_their_place():
    html = """<table><tr><th>n<th><th>v<tr><td rowspan=2>x<td><td>1<tr><td><td>
              <tr><td>y<td>&nbsp;<td>2</table>"""
    assert texts(html) == ["| n | v |\n| --- | --- |\n| x | 1 |\n| y | 2 |"]


def test_cells_with_structure_are_flattened():
    html = """<table><tr><th>k<th>v<tr><td>list<td><ul><li>a<li>b</ul><tr><td>steps<td><ol><li>c<li>d</ol>
              <tr><td>table<td><table><tr><th>p<th>q<tr><td>1<td>2</table><tr><td>lines<td>e<br>f<p>g</table>"""
    assert [row[1] for row in table(html)[2:]] == ["a; b", "1. c; 2. d", "p, q; 1, 2", "e f g"]


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><h1>T</h1><td>a<tr><td>b</table>",
        "<table role=presentation><tr><td><h1>T</h1>a<td>b</table>",
        "<table><tr><td><table><tr><td><h1>T</h1></table><tr><td><p>a<p>b</table>",
        "<table><tr><td><h1>T</h1><tr><td>a<tr><td>b</table>",
    ],
)
def test_tables_that_only_arrange_the_page_fall_into_their_parts(html):
    assert pieces(html) == [("heading1", "T"), ("paragraph", "a"), ("paragraph", "b")]


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr>" + "<td colspan=1000 rowspan=65534>x" * 2000 + "</table>",
        "<table>" + "<tr><td colspan=1000>" + "x" * 3000 + "<td>y</table>",
        "<table><tr><th>h" + "<td>y" * 10_000 + "<tr><td>x" * 10_000 + "</table>",
        "<table><tr>" + "<td rowspan=9999>x" * 500 + "<tr><td>y" * 9000 + "</table>",
    ],
    ids=["spans of spans", "a wide cell", "one wide row", "a deep row"],
)
def test_tables_out_of_all_proportion_stay_within_bounds(html):
    found = texts(html)
    assert found
    assert sum(map(len, found)) < 4_000_000


# ---------------------------------------------------------------- the same as Markdown

MARKDOWN = """# Title

Some text with two
lines.

## Part

- one
- two
  - inner
- three

1. first
2. second

| a | b |
| --- | --- |
| 1 | 2 |
| 3 | 4 |

```
def f():
    return 1
```

> wise words

### Deeper

The end.
"""
SAME = """<h1>Title</h1><p>Some text with two lines.</p><h2>Part</h2><ul><li>one<li>two<ul><li>inner</ul><li>three</ul>
<ol><li>first<li>second</ol><table><tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4</table><pre>def f():
    return 1</pre><blockquote>wise words</blockquote><h3>Deeper</h3><p>The end."""


def test_the_same_content_gives_the_same_blocks_as_in_markdown(page):
    blocks = markdown_blocks(MARKDOWN)
    document = page(SAME)
    assert [(b.kind, b.level) for b in document.blocks] == [(b.kind, b.level) for b in blocks]
    for ours, theirs in zip(document.blocks, blocks, strict=True):
        if ours.kind in ("list", "table"):
            source = MARKDOWN[theirs.span.start : theirs.span.end]
            assert document.text[ours.span.start : ours.span.end].rstrip() == source.rstrip()


# ---------------------------------------------------------------- what is no part of the text


def test_navigation_goes_and_around_marked_content_headers_footers_and_sidebars(page):
    html = """<body><a href="#c">Skip to content</a><nav>Home</nav>
    <ul role=menu><li>Dark</ul><header>Site</header><aside>Ads</aside>
    <main id=c><header><h1>T</h1></header><aside>Note</aside><footer>Signed</footer></main><div>kept</div>
    <footer>Imprint</footer>"""
    with pytest.warns(FaircutWarning, match=r"left out navigation \(23 characters\), page footers \(7 characters\)"):
        assert page(html).text == "T\n\nNote\n\nSigned\n\nkept\n"


def test_without_marked_content_headers_and_footers_are_text():
    assert texts("<header>Head</header><nav>Home</nav>a<footer>Foot</footer>") == ["Head", "a", "Foot"]


def test_the_only_title_of_a_page_is_kept_where_it_stands_in_the_header():
    html = "<header><nav>Home</nav><h1>Title</h1></header><main><p>a</main>"
    assert pieces(html) == [("heading1", "Title"), ("paragraph", "a")]


def test_a_page_of_nothing_but_navigation_is_read():
    assert texts("<nav><ul><li>a<li>b</ul></nav>") == ["- a\n- b"]


def test_a_page_with_nothing_left_out_gives_no_warning(page):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page("<p>a<script>b</script><h2>c<a href=#>#</a></h2>")


# ---------------------------------------------------------------- files


def test_title_language_and_type_come_from_the_page(page):
    document = page("<html lang='pt-BR'><title> A \n title</title><h1>H</h1>")
    assert (document.title, document.language, document.media_type) == ("A title", "pt-BR", "text/html")
    assert page("<h1>H</h1>").title == "H"
    assert page("<p>text").title == "page"
    assert page("<p>text").language is None
    assert page("<p>x", "a.xhtml").media_type == "application/xhtml+xml"


def test_xhtml_elements_may_be_empty_and_hold_cdata(page):
    xhtml = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head>
    <body><h1 id="a"/><p>a<br/>b <a id="x"/><![CDATA[<c> & d]]></p></body></html>"""
    assert page(xhtml, "a.xhtml").text == "a\nb <c> & d\n"


@pytest.mark.parametrize(
    ("encoding", "label"),
    [
        ("utf-8", ""),
        ("utf-8-sig", "iso-8859-1"),
        ("utf-8", "iso-8859-1"),
        ("utf-16", ""),
        ("utf-16-le", ""),
        ("utf-16-be", ""),
        ("cp1252", "ISO-8859-1"),
        ("cp1252", "windows-1252"),
    ],
)
def test_the_encoding_is_found(encoding, label):
    html = GERMAN.replace('charset=""', f'charset="{label}"')
    assert decode_html(html.encode(encoding), "page") == html


GERMAN = (
    '<html><head><meta charset=""></head><p>Die Prüfung erfolgt gemäß § 5 für jede Größe „im Übrigen“; '
    "die Gebühr beträgt dann höchstens 5 € je Stück, sofern nichts Ausdrückliches vereinbart ist."
)


@pytest.mark.parametrize("label", ["", "klingon"])
def test_an_encoding_that_the_page_does_not_name_is_guessed_and_said(label):
    html = GERMAN.replace('charset=""', f'charset="{label}"')
    with pytest.warns(FaircutWarning, match="page: not UTF-8, read as WINDOWS-1252"):
        assert decode_html(html.encode("cp1252"), "page") == html


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("shift_jis", "日本語の文章です。"),
        ("euc-jp", "日本語の文章です。"),
        ("iso-2022-jp", "日本語の文章です。"),
        ("gb2312", "中文网页"),
        ("big5", "中文網頁"),
        ("koi8-r", "Привет, мир"),
        ("windows-1251", "Привет, мир"),
        ("euc-kr", "한국어 문서"),
    ],
)
def test_the_label_of_the_page_decides(encoding, text):
    html = f'<meta http-equiv="Content-Type" content="text/html; charset={encoding}"><p>{text}'
    assert decode_html(html.encode(encoding), "page") == html


def test_a_few_wrong_bytes_are_replaced_and_counted():
    raw = ("<p>" + "é" * 200).encode() + b"\xff"
    with pytest.warns(FaircutWarning, match="page: 1 characters are not valid in UTF-8"):
        assert decode_html(raw, "page") == "<p>" + "é" * 200 + "\ufffd"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"<html><body><img src='x'><script>app()</script></body></html>", "no text in the page"),
        (b"%PDF-1.7\n", "not HTML but a PDF file"),
        (b"PK\x03\x04rest", "not HTML but a zip archive or an Office file"),
        (b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0" * 9, "not text"),
    ],
)
def test_what_is_no_page_is_refused_with_the_reason(page, content, reason):
    with pytest.raises(DocumentError, match=rf"page\.html: {reason}"):
        page(content)


def test_a_page_without_body_or_with_broken_tags_is_read():
    assert texts("a<p>b") == ["a", "b"]
    assert texts("<title>t</title>text") == ["text"]
    assert texts("<p>a</b></div><b><p>c</i><table><tr>x<td>d</table><p <p>e<") == ["a", "cx", "d", "e<"]


# ---------------------------------------------------------------- bounds


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.parametrize(
    "tag",
    ["div", "span", "b", "blockquote", "ul><li", "ol", "table><tr><td", "a href=x", "pre", "h1", "dl><dd", "q", "sup"],
)
def test_nesting_of_10000_levels_is_read_in_bounded_time(tag):
    closing = "".join(f"</{t.split()[0]}>" for t in reversed(tag.split("><")))
    html = f"<{tag}>" * 10_000 + "deep" + closing * 10_000 + "<p>after"
    found = []
    assert seconds(lambda: found.extend(texts(html))) < 5
    assert "deep" in found[0]
    assert "after" in found[-1]


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 300_000 + "x",
        "<ul><li>" * 100_000 + "x",
        "<p>" + "".join(f"<b id={i}>" for i in range(3000)) + "</p>" + "<p>x</p>" * 3000,
        "<p " + " ".join(f"a{i}=1" for i in range(100_000)) + ">x",
        "<table>" * 100_000 + "x",
        "".join(f"<font size={i}>x" for i in range(50_000)),
        "<p>x<!--" * 50_000,
        "<p>x <a '" * 50_000,
        "<p>x" + "<![CDATA[" * 50_000,
        "<p>x<img alt='" + "y" * 100 + "' src='data:image/png;base64," + "A" * 5_000_000 + "'>",
        "<p>" + "word " * 1_000_000,
    ],
    ids=["div", "list", "formatting", "attributes", "table", "font", "comment", "quote", "cdata", "data uri", "line"],
)
def test_pages_made_to_be_slow_are_not(html):
    assert seconds(lambda: html_page(as_html(html), "page")) < 6


def test_tags_are_taken_out_only_beyond_the_bounds():
    html = "<div><span>a</span></div><p>b<br/><li>" * 3000
    assert tame(html, "page") == html
    deep = "<div>" * (MAX_NESTING + 2) + "x" + "</div>" * (MAX_NESTING + 2) + "<div>y</div>"
    assert tame(deep, "page") == "<div>" * MAX_NESTING + "  x  " + "</div>" * MAX_NESTING + "<div>y</div>"
    with pytest.raises(DocumentError, match="page: more than 1,250,000 HTML tags"):
        tame("<b>" * 1_250_001, "page")


TAGS = st.sampled_from(
    sorted(
        names(
            "p div h1 h2 ul ol li dl dt dd table tr td th thead caption pre code blockquote br b a img span nav main "
            "header article script style title select svg math q sup body html input details form"
        )
    )
)
MARKUP = st.lists(
    st.one_of(
        TAGS.map("<{}>".format),
        TAGS.map("</{}>".format),
        st.sampled_from(
            ["<td colspan=3 rowspan=2>", "<ol start=5 reversed>", "<p hidden>", "<!--", "-->", "<", "&amp"]
        ),
        st.sampled_from(["word ", " ", "\n", "\n\n", "|", "日本", "\xad", "\0", "```", "- "]),
        st.text(max_size=5),
    ),
    max_size=60,
).map("".join)


@given(MARKUP)
def test_any_markup_gives_blocks_that_are_not_blank(html):
    for kind, text in pieces(html.encode("utf-8", "replace").decode()):
        assert text.strip(), kind


WORDS = st.lists(st.from_regex(r"w[0-9]{3}", fullmatch=True), min_size=1, max_size=8)
BLOCK_TAGS = st.sampled_from(["p", "div", "h2", "ul", "li", "table", "tr", "td", "blockquote", "pre", "dl", "b", "ol"])


@given(st.lists(st.tuples(BLOCK_TAGS, WORDS, st.booleans()), max_size=25))
def test_no_word_is_lost_or_said_twice(parts):
    html = "".join(f"<{tag}>{' '.join(words)} {f'</{tag}>' if closed else ''}" for tag, words, closed in parts)
    given_words = sorted(word for _, words, _ in parts for word in words)
    assert sorted(w for t in texts(html) for w in t.replace("|", " ").split() if w.startswith("w")) == given_words


# ---------------------------------------------------------------- real pages


def test_an_encyclopedia_page_is_its_article(shared_data):
    path = shared_data / "nasty" / "docling__wiki_duck.html"
    with pytest.warns(FaircutWarning, match="navigation"):
        document = HTML.read(path, "duck")
    found = [(b.kind, b.level, document.text[b.span.start : b.span.end].strip()) for b in document.blocks]
    assert (document.title, document.language) == ("Duck - Wikipedia", "en")
    assert found[0] == ("heading", 1, "Duck")
    headings = [text for kind, level, text in found if kind == "heading" and level == 2]
    assert headings[:4] == ["Etymology", "Taxonomy", "Morphology", "Distribution and habitat"]
    (box,) = [text for kind, _, text in found if kind == "table" and "Kingdom" in text]
    assert "| Kingdom: | Animalia |" in box
    assert "Acèh" not in document.text
    assert "[edit]" not in document.text


def test_a_law_in_one_pre_is_paragraphs(shared_data):
    document = HTML.read(shared_data / "nasty" / "unstructured__fake-html-pre.htm", "law")
    assert len(document.blocks) > 800
    assert {b.kind for b in document.blocks} == {"paragraph"}
    assert "the ``Uniting and Strengthening America by Providing Appropriate Tools \nRequired to" in document.text


def test_rich_table_cells_are_read(shared_data):
    document = HTML.read(shared_data / "nasty" / "docling__html_rich_table_cells.html", "cells")
    assert [b.kind for b in document.blocks] == ["heading", *["paragraph", "table"] * 4]
    assert "| Teal | Pond; Marsh; Riverbank | 1. Fly south in winter; 2. Build nest on ground |" in document.text
    assert "| Action | Action |" in document.text
    assert "| Quack | Type, Sound; Short, “quak”; Long, “quaaaaaack” |" in document.text
    assert "| White-headed duck | A small diving duck some 45 cm (18 in) long. | White-headed duck thumbnail |" in (
        document.text
    )
