"""E-mails give their headers, their text once, and what is attached."""

import time
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents import email_message
from faircut.documents.email_message import EMAIL
from faircut.errors import DocumentError, FaircutWarning


def message(text="Hello there.", subject="Greetings", **headers):
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject, "Ann <ann@example.org>", "bob@example.org"
    for name, value in headers.items():
        mail[name] = value
    if text is not None:
        mail.set_content(text)
    return mail


@pytest.fixture
def mail(tmp_path):
    def read(content):
        path = tmp_path / "mail.eml"
        path.write_bytes(content if isinstance(content, bytes) else content.as_bytes())
        return EMAIL.read(path, "mail.eml")

    return read


def blocks(document):
    return [(b.kind, document.text[b.span.start : b.span.end].rstrip()) for b in document.blocks]


HEADERS = ("paragraph", "Subject: Greetings\nFrom: Ann <ann@example.org>\nTo: bob@example.org")


def test_the_headers_are_the_first_block_and_the_subject_is_the_title(mail):
    document = mail(message(Date="Mon, 01 Jan 2024 10:00:00 +0000", Cc="cc@example.org"))
    assert blocks(document) == [
        (
            "paragraph",
            f"{HEADERS[1]}\nCc: cc@example.org\nDate: Mon, 01 Jan 2024 10:00:00 +0000",
        ),
        ("paragraph", "Hello there."),
    ]
    assert (document.title, document.media_type) == ("Greetings", "message/rfc822")


def test_encoded_headers_are_decoded(mail):
    subject = b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= =?utf-8?b?IGF1cyDmnbHkuqw=?=\r\n (Ende)\r\n"
    document = mail(subject + b"From: =?iso-8859-1?q?J=F6rg?= <j@x>\r\nTo: =?klingon?q?a?= =?utf-8?b?!?=\r\n\r\nx")
    assert document.title == "Grüße aus 東京 (Ende)"
    assert "From: Jörg <j@x>" in document.text
    assert mail("Subject: Grüße\n\nx".encode()).title == "Grüße"
    assert mail("Subject: Grüße\n\nx".encode("latin-1")).title == "Grüße"


def test_control_characters_of_headers_go(mail):
    assert mail(b"Subject: a\x1b[31mb\x07\xe2\x80\xaec\n\nx").title == "a [31mb c"


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252", "utf-16", "koi8-r"])
def test_the_charset_of_a_part_decides(mail, charset):
    text = "Привет" if charset == "koi8-r" else "Größe: naïve café"
    document = mail(
        f"Subject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n".encode()
        + (text + "\n").encode(charset)
        if charset != "utf-16"
        else message(text)
    )
    assert text in document.text


def test_quotes_are_blocks_and_blank_lines_part_paragraphs(mail):
    document = mail(message("Hi,\n\nyes.\n\nBob wrote:\n> one\n> two\n>> deeper\nDone.\n-- \nAnn"))
    assert blocks(document)[1:] == [
        ("paragraph", "Hi,"),
        ("paragraph", "yes."),
        ("paragraph", "Bob wrote:"),
        ("quote", "one\ntwo\n> deeper"),
        ("paragraph", "Done.\n-- \nAnn"),
    ]


def test_flowed_lines_are_joined(mail):
    head = b"Subject: x\nContent-Type: text/plain; format=flowed"
    text = b"a long \nline\n  indented\n> quoted \n> line\n-- \nAnn"
    assert blocks(mail(head + b"\n\n" + text))[1:] == [
        ("paragraph", "a long line\n indented"),
        ("quote", "quoted line"),
        ("paragraph", "-- \nAnn"),
    ]
    assert blocks(mail(head + b"; delsp=yes\n\nwo \nrd"))[1:] == [("paragraph", "word")]


# ---------------------------------------------------------------- forms of one text


def test_the_plain_text_is_preferred_to_the_html(mail):
    both = message("The plain text of it.")
    both.add_alternative("<h1>The</h1><p>rich text of it.", subtype="html")
    assert blocks(mail(both)) == [HEADERS, ("paragraph", "The plain text of it.")]


@pytest.mark.parametrize("plain", ["", " \n", "Please use a mail program that shows HTML."])
def test_a_plain_text_that_only_stands_in_gives_way_to_the_html(mail, plain):
    both = message(plain)
    both.add_alternative(f"<h1>News</h1><p>{'many words of news ' * 20}</p>", subtype="html")
    assert [kind for kind, _ in blocks(mail(both))] == ["paragraph", "heading", "paragraph"]


def test_html_alone_is_read_with_its_tables_as_layout(mail):
    page = message(None)
    page.set_content("<table><tr><td><table><tr><td>Dear Bob,<tr><td>hello</table></table>", subtype="html")
    assert blocks(mail(page)) == [HEADERS, ("paragraph", "Dear Bob,"), ("paragraph", "hello")]


def test_files_beside_the_html_form_are_read_too(mail):
    both = message("The plain text of it.")
    both.add_alternative("<p>The rich text of it.", subtype="html")
    both.get_payload()[1].add_related(b"# Inside", "text", "markdown", filename="inside.md")
    assert ("heading", "# Inside") in blocks(mail(both))


# ---------------------------------------------------------------- attachments


def test_attachments_are_read_by_the_reader_of_their_extension(mail):
    with_file = message()
    with_file.add_attachment("# Top\n\n- a\n- b\n", subtype="markdown", filename="nötes.md")
    document = mail(with_file)
    assert blocks(document) == [
        ("paragraph", f"{HEADERS[1]}\nAttachments: nötes.md"),
        ("paragraph", "Hello there."),
        ("heading", "Attachment: nötes.md"),
        ("heading", "# Top"),
        ("list", "- a\n- b"),
    ]
    assert [b.level for b in document.blocks] == [None, None, 1, 2, 1]


def test_what_cannot_be_read_is_named_and_counted(mail, tmp_path):
    with_files = message()
    with_files.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="../../photo.png")
    with_files.add_attachment(b"a\0b", maintype="text", subtype="plain", filename="binary.txt")
    with pytest.warns(FaircutWarning, match=r"left out 2 parts that cannot be read: photo\.png \(image/png\), binary"):
        document = mail(with_files)
    assert "Attachments: photo.png, binary.txt" in document.text
    assert [p.name for p in tmp_path.iterdir()] == ["mail.eml"]


def test_messages_in_the_message_follow_under_their_subject(mail):
    inner = message("Inner text.", "Inner")
    outer = message()
    outer.add_attachment(inner)
    outer.add_attachment(inner.as_bytes(), maintype="application", subtype="octet-stream", filename="saved.eml")
    document = mail(outer)
    inside = [
        ("heading", "Message: Inner"),
        ("paragraph", HEADERS[1].replace("Greetings", "Inner")),
        ("paragraph", "Inner text."),
    ]
    assert blocks(document)[2:] == inside * 2


def test_reports_of_delivery_are_read(mail):
    raw = (
        b"Subject: Failed\nContent-Type: multipart/report; boundary=b\n\n--b\n\nNot delivered.\n"
        b"--b\nContent-Type: message/delivery-status\n\n"
        b"Reporting-MTA: dns; x.org\n\nFinal-Recipient: rfc822; a@x.org\n\n--b--\n"
    )
    assert blocks(mail(raw))[-1] == ("paragraph", "Reporting-MTA: dns; x.org\nFinal-Recipient: rfc822; a@x.org")


def test_signatures_are_no_text_and_encrypted_parts_are_named(mail):
    raw = (
        b"Subject: x\nContent-Type: multipart/signed; boundary=b\n\n--b\nContent-Type: text/plain\n\nSigned.\n"
        b"--b\nContent-Type: application/pgp-signature; name=s.asc\n\nxyz\n--b--\n"
    )
    assert blocks(mail(raw))[-1] == ("paragraph", "Signed.")
    with pytest.raises(DocumentError, match="encrypted; save it decrypted"):
        mail(b"Subject: x\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nabc\n--b--\n")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"Just a text without headers.\n", "not an e-mail"),
        (b"\x00\x01\x02\x03", "not an e-mail"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"not an \.eml file but an Outlook \.msg"),
        (b"From: a@b\n\n", r"no text in the message\."),
        (b"From: a@b\nContent-Type: image/png; name=x.png\n\nabc", r"no text in the message; 1 part .*x\.png"),
        (b"From: a\nContent-Type: message/rfc822\n\n" * 5000 + b"x", "refused: parts nested deeper"),
        (b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 60_000, "refused: more than"),
        (b"From: a\nContent-Type: multipart/mixed;" + b"a;" * 100_000 + b"\n\nx", "refused: a Content header"),
    ],
    ids=range(10),
)
def test_what_is_no_readable_mail_is_refused_with_the_reason(mail, content, reason):
    with pytest.raises(DocumentError, match=rf"mail\.eml: {reason}"):
        mail(content)


def test_multiparts_nested_without_end_are_refused(mail):
    levels = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(10_000))
    with pytest.raises(DocumentError, match="refused: parts nested deeper"):
        mail(b"Subject: x\n" + levels + b"\nx")


def test_mails_attached_to_each_other_without_end_are_cut_and_named(mail):
    inner = message("Deepest.", "Deepest")
    for number in range(30):
        outer = message(f"Text {number}.", f"Level {number}")
        outer.add_attachment(inner.as_bytes(), "application", "octet-stream", cte="8bit", filename="inner.eml")
        inner = outer
    with pytest.warns(FaircutWarning, match="levels deep|deeper"):
        document = mail(inner)
    assert "Text 29." in document.text


def test_headers_without_end_are_shortened_and_read_fast(mail):
    start = time.process_time()
    document = mail(b"Subject: x\nTo: " + b"=?utf-8?q?a?= <a@b.c>,\n " * 100_000 + b"\n\nx")
    assert time.process_time() - start < 3
    assert "…" in document.text


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"Subject: a",
                b"From: b",
                b"Content-Type: text/html",
                b"Content-Type: text/plain; charset=utf-16",
                b"Content-Type: multipart/alternative; boundary=b",
                b"Content-Type: multipart/mixed; boundary=c",
                b"Content-Type: message/rfc822",
                b'Content-Disposition: attachment; filename="a.txt"',
                b"Content-Transfer-Encoding: base64",
                b"Content-Transfer-Encoding: quoted-printable",
                b"--b",
                b"--c",
                b"--b--",
                b"--c--",
                b"",
                b"",
                b"> text",
                b"<p>text",
                b"QUJD",
            ]
        ),
        st.binary(max_size=12),
    ),
    max_size=30,
).map(b"\n".join)


@pytest.mark.filterwarnings("ignore::faircut.errors.FaircutWarning")
@given(LINES)
def test_any_bytes_give_a_document_or_a_typed_error(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "any.eml"
    path.write_bytes(b"Subject: s\n" + raw)
    try:
        document = EMAIL.read(path, "any")
    except DocumentError:
        return
    assert document.text.strip()


def test_the_tags_of_all_html_parts_are_bounded_together(mail, monkeypatch):
    monkeypatch.setattr(email_message, "MAX_TAGS", 1000)
    outer = message()
    for _ in range(3):
        page = message(None)
        page.set_content("<p>" * 400 + "end", subtype="html")
        outer.add_attachment(page)
    with pytest.warns(FaircutWarning, match=r"1 part .*more than 1,000 HTML tags"):
        assert mail(outer).text.count("end\n") == 2
