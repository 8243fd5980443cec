"""Damaged PDFs give their text or a typed error, in bounded time, and never end the process."""

import random
import subprocess
import sys
import textwrap

import pytest
from pdf_typesetter import Typesetter
from pdf_writer import Sheet, pdf
from sample_content import pieces

READ_ALL = textwrap.dedent("""
    import sys, time, warnings
    from pathlib import Path
    from faircut.documents.pdf import PDF
    from faircut.errors import DocumentError

    warnings.simplefilter("ignore")
    for path in sorted(Path(sys.argv[1]).iterdir()):
        start = time.process_time()
        try:
            end = "text" if PDF.read(path, path.name).text.strip() else "nothing"
        except DocumentError as error:
            end = "error" if path.name in str(error) else f"error without its file: {error}"
        except Exception as error:
            end = repr(error)
        print(path.name, round(time.process_time() - start), end, flush=True)
""")


def own_files():
    sheets, outline = [], []
    for page in range(1, 4):
        sheet = Sheet().text(72, 80, f"Chapter {page}", 14, "F2", tag="H1").text(72, 110, "Text of it.", tag="P")
        sheet.grid([72, 200, 300], [200 + 16 * n for n in range(8)])
        for n in range(7):
            sheet.text(76, 212 + 16 * n, f"Item {page}-{n}").text(204, 212 + 16 * n, str(n))
        sheets.append(sheet)
        outline.append((1, f"Chapter {page}", page, 70))
    text = "# Rules\n\n" + "\n\n".join(f"Paragraph {n} with words.\n\n- one\n- two" for n in range(30))
    return [pdf(*sheets, outline=outline), Typesetter(ruled=True, tagged=True).file(pieces(text))]


def damaged(sources, count, seed):
    """Cut off, or with single bytes or a stretch changed; the same files for the same seed."""
    chance = random.Random(seed)
    for n in range(count):
        raw = bytearray(sources[n % len(sources)])
        way = n // len(sources) % 3
        if way == 0:
            del raw[chance.randrange(1, len(raw)) :]
        elif way == 1:
            for _ in range(chance.choice((1, 5, 50))):
                raw[chance.randrange(len(raw))] = chance.randrange(256)
        else:
            start = chance.randrange(len(raw))
            raw[start : start + chance.choice((10, 500))] = chance.randbytes(chance.choice((0, 10, 500)))
        yield bytes(raw)


def read_all(folder, files):
    for n, raw in enumerate(files):
        (folder / f"{n:03}.pdf").write_bytes(raw)
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(folder)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, (done.stdout[-200:], done.stderr[-2000:])
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert len(lines) == len(list(folder.iterdir()))
    bad = [line for line in lines if line[2] not in ("text", "error") or int(line[1]) >= 20]
    assert not bad
    return {line[2] for line in lines}


def test_twenty_damaged_files_give_text_or_a_typed_error(tmp_path):
    assert read_all(tmp_path, damaged(own_files(), 20, seed=7)) == {"text", "error"}


@pytest.mark.slow
def test_two_hundred_damaged_files_give_text_or_a_typed_error(tmp_path, shared_data):
    nasty = [p.read_bytes() for p in sorted((shared_data / "nasty").glob("*.pdf"))]
    assert read_all(tmp_path, damaged([*own_files(), *nasty], 200, seed=3)) == {"text", "error"}


def test_text_set_far_away_by_a_damaged_number_takes_no_longer(tmp_path):
    raw = pdf(Sheet().text(72, 100, "Here.").text(72, 120, "There.").text(999_999_999, 140, "Far away."))
    assert read_all(tmp_path, [raw]) == {"text"}
