"""Speed of token-exact recursive chunking beside chonkie, semchunk and LangChain: same tokenizer, same text.

Run `python bench/chunking_speed.py`. Each tool runs in a fresh process, the other tools in a virtual environment that
this script makes in the user's cache folder (it needs a package index the first time). CPU seconds are those of all
threads and children of the process, for the first call after a short warm-up, so no tool profits from having seen the
text. What the tools return is judged here: does the ceiling hold, are the offsets those of the text, is text lost?
Writes docs/results/chunking_speed.md.
"""

import argparse
import gzip
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import venv
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RESULT = REPOSITORY / "docs" / "results" / "chunking_speed.md"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faircut" / "bench-chunking-speed"
PACKAGES = ["chonkie", "semchunk", "langchain-text-splitters", "tokenizers", "numpy"]
CEILING = 512
TIMEOUT = 120
WARM_UP = "A first sentence, to load what is loaded once. A second one follows. " * 60  # above the ceiling
TRACED = ", traced"
SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]


# ---------------------------------------------------------------- the tools: text -> [(start, end, text)]


def tokenizer_of(path):
    """The tokenizer without the truncation and padding that its file asks for, which would hide all that is long."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def counter_of(path):
    tokenizer = tokenizer_of(path)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def faircut(path):
    from faircut.chunkers.contract import Models
    from faircut.chunkers.recursive import Recursive
    from faircut.records import Document
    from faircut.specs import Size
    from faircut.text.tokens import load_tokenizer

    chunker, models = Recursive(Size(CEILING)), Models(load_tokenizer(Path(path)))

    def run(text):
        chunks = chunker.chunk(Document("d", text, language="en"), models)
        return [(c.spans[0].start, c.spans[0].end, c.text) for c in chunks]

    return run, ["faircut", "tokenizers"]


def chonkie(path):
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=tokenizer_of(path), chunk_size=CEILING)
    return lambda text: [(c.start_index, c.end_index, c.text) for c in chunker(text)], ["chonkie", "tokenizers"]


def chonkie_tokie(path):
    """Chonkie with its own, faster tokenizer."""
    import tokie
    from chonkie import RecursiveChunker

    tokenizer = tokie.Tokenizer.from_json(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    chunker = RecursiveChunker(tokenizer=tokenizer, chunk_size=CEILING)
    return lambda text: [(c.start_index, c.end_index, c.text) for c in chunker(text)], ["chonkie", "tokie"]


def semchunk(path):
    import semchunk

    chunker = semchunk.chunkerify(counter_of(path), CEILING)

    def run(text):
        pieces, offsets = chunker(text, offsets=True)
        return [(start, end, piece) for piece, (start, end) in zip(pieces, offsets, strict=True)]

    return run, ["semchunk", "tokenizers"]


def langchain(path):
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=SEPARATORS,
        chunk_size=CEILING,
        chunk_overlap=0,
        length_function=counter_of(path),
        add_start_index=True,
    )  # as its from_huggingface_tokenizer, which needs transformers

    def run(text):
        found = [(d.metadata["start_index"], d.page_content) for d in splitter.create_documents([text])]
        return [(start, start + len(piece), piece) for start, piece in found]

    return run, ["langchain-text-splitters", "tokenizers"]


TOOLS = {
    "faircut recursive": faircut,
    "chonkie RecursiveChunker": chonkie,
    "chonkie RecursiveChunker, tokie": chonkie_tokie,
    "semchunk": semchunk,
    "LangChain RecursiveCharacterTextSplitter": langchain,
}


def work(tool, tokenizer, text_file, result_file):
    """In a process of its own: chunk once, write the chunks and what they cost."""
    run, packages = TOOLS[tool.removesuffix(TRACED)](tokenizer)
    text = Path(text_file).read_bytes().decode("utf-8")
    run(WARM_UP)
    if tool.endswith(TRACED):
        tracemalloc.start()
    before, begin = cpu_seconds(), time.perf_counter()
    chunks = run(text)
    cost = {
        "cpu": cpu_seconds() - before,
        "wall": time.perf_counter() - begin,
        "peak": tracemalloc.get_traced_memory()[1],
        "versions": {p: version(p) for p in packages},
    }
    Path(result_file).write_text(json.dumps(cost | {"chunks": chunks}), encoding="utf-8", errors="surrogatepass")


def cpu_seconds():
    """User and system seconds of this process, all its threads, and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


# ---------------------------------------------------------------- measuring and judging


def python_with_tools():
    """The interpreter of an environment with the other tools, made when it is not there."""
    python = CACHE / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (CACHE / "ready").exists():
        print(f"installing {', '.join(PACKAGES)} into {CACHE}", flush=True)
        venv.create(CACHE, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (CACHE / "ready").touch()
    return str(python)


def measure(tool, python, tokenizer, text, runs):
    """The cheapest of several fresh processes: other work on the machine only ever adds."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "text", Path(folder) / "result"
        source.write_bytes(text.encode("utf-8"))
        for _ in range(runs):
            command = [python, __file__, "--worker", tool, tokenizer, str(source), str(result)]
            try:
                subprocess.run(command, check=True, timeout=TIMEOUT, capture_output=True)
            except subprocess.TimeoutExpired:
                return {"failed": f"not done in {TIMEOUT} s"}
            except subprocess.CalledProcessError as error:
                return {"failed": error.stderr.decode().strip().splitlines()[-1][:100]}
            found.append(json.loads(result.read_text(encoding="utf-8", errors="surrogatepass")))
    return min(found, key=lambda run: run["cpu"])


def judge(text, chunks, tokenizer):
    """Sizes by the tokenizer itself, offsets against the text, characters that no chunk has."""
    encodings = tokenizer.encode_batch_fast([c for _, _, c in chunks], add_special_tokens=False)
    sizes = [len(e.ids) for e in encodings]
    covered = bytearray(len(text))
    for start, end, piece in chunks:
        if text[start:end] == piece:
            covered[start:end] = b"\1" * (end - start)
    lost = sum(1 for c, seen in zip(text, covered, strict=True) if not seen and not c.isspace())
    wrong = sum(text[start:end] != piece for start, end, piece in chunks)
    characters = [len(piece) for _, _, piece in chunks]
    return {
        "chunks": len(chunks), "mean": sum(sizes) / max(1, len(sizes)), "largest": max(sizes, default=0),
        "over": sum(s > CEILING for s in sizes), "wrong": wrong, "lost": lost, "longest": max(characters, default=0),
    }  # fmt: skip


def corpus(folder, name):
    with gzip.open(folder / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        return "\n\n".join(json.loads(line)["text"] for line in lines)


# ---------------------------------------------------------------- the page


def speed_table(name, text, rows):
    megabytes = len(text.encode()) / 1e6
    lines = [
        f"## {name}: {megabytes:.1f} MB, {len(text):,} characters in one document",
        "",
        "| tool | MB per CPU second | CPU s | wall s | chunks | mean tokens | largest | over the ceiling "
        "| wrong offsets | characters lost |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for tool, run in rows.items():
        if "failed" in run:
            lines.append(f"| {tool} | {run['failed']} | | | | | | | | |")
            continue
        j = run["judged"]
        lines.append(
            f"| {tool} | {megabytes / run['cpu']:.2f} | {run['cpu']:.2f} | {run['wall']:.2f} | {j['chunks']} "
            f"| {j['mean']:.0f} | {j['largest']} | {j['over']} | {j['wrong']} | {j['lost']} |"
        )
    return [*lines, ""]


def word_table(word, rows):
    lines = [
        f"## One word: {len(word):,} characters of base64",
        "",
        "A WordPiece tokenizer makes one unknown token of any word above 100 characters, so a splitter that trusts the "
        "number leaves it whole; an embedder then sees nothing of it. faircut counts such a word by its characters.",
        "",
        "| tool | CPU s | chunks | longest chunk in characters | characters lost |",
        "|---|---|---|---|---|",
    ]
    for tool, run in rows.items():
        if "failed" in run:
            lines.append(f"| {tool} | {run['failed']} | | | |")
        else:
            j = run["judged"]
            lines.append(f"| {tool} | {run['cpu']:.2f} | {j['chunks']} | {j['longest']:,} | {j['lost']} |")
    return [*lines, ""]


def growth_table(text, parts):
    base = parts[0][1]["cpu"]
    lines = [
        "## faircut: time and memory against length",
        "",
        "Peak is what was allocated while cutting (tracemalloc, in a run of its own), chunks included, plus the text "
        "itself, against the text's bytes in UTF-8. What the tokenizer allocates in Rust for a block is not seen. Each run is a process of its own and builds the vocabulary's lookup table (about 3 MB, once), which weighs on the small texts.",
        "",
        "| text | CPU s | times the time | peak memory, times the text |",
        "|---|---|---|---|",
    ]
    for part, run, traced in parts:
        size = len(part.encode())
        peak = (traced["peak"] + sys.getsizeof(part)) / size
        lines.append(f"| {size / 1e6:.2f} MB | {run['cpu']:.3f} | {run['cpu'] / base:.1f} | {peak:.1f} |")
    return [*lines, "", f"The largest is {len(text) / len(parts[0][0]):.0f} times the smallest.", ""]


def head(versions, runs):
    listed = ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))
    return [
        "# Speed of recursive chunking",
        "",
        "Made by `python bench/chunking_speed.py`; run it again to make it again.",
        "",
        f"Ceiling {CEILING} tokens of all-MiniLM-L6-v2's own tokenizer (truncation and padding off), no overlap. A row "
        f"is the cheapest of {runs} fresh processes; CPU seconds are user and system, all threads; the text is seen "
        "for the first time. Sizes, offsets and losses are judged from outside: sizes by the `tokenizers` library. "
        "All tools count with that library, but in the row `tokie` chonkie counts with its own tokenizer in Rust, "
        "which gives the same numbers on these texts and is the fastest of all.",
        "",
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        f"{listed}.",
        "",
    ]


def compare(text, python, tokenizer_file, runs, versions):
    tokenizer = tokenizer_of(tokenizer_file)
    rows = {}
    for tool in TOOLS:
        own = sys.executable if tool.startswith("faircut") else python
        run = measure(tool, own, tokenizer_file, text, runs)
        if "failed" not in run:
            versions.update(run["versions"])
            run["judged"] = judge(text, run.pop("chunks"), tokenizer)
        rows[tool] = run
        print(tool, run.get("failed") or f"{len(text.encode()) / 1e6 / run['cpu']:.2f} MB/s", flush=True)
    return rows


def growth(part, tokenizer_file, runs):
    timed, traced = (
        measure(f"faircut recursive{suffix}", sys.executable, tokenizer_file, part, times)
        for suffix, times in (("", runs + 2), (TRACED, 1))
    )
    return part, timed, traced


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", nargs=4, metavar=("TOOL", "TOKENIZER", "TEXT", "RESULT"), help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--tokenizer", help="a tokenizer.json; that of all-MiniLM-L6-v2 unless given")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT)
    asked = parser.parse_args()
    if not asked.data.is_dir():
        parser.error(f"the corpora are not at {asked.data}; give their folder with --data")
    if not asked.tokenizer:
        from faircut.embedding.weights import minilm_files

        asked.tokenizer = str(minilm_files().tokenizer)
    python, versions, page = python_with_tools(), {}, []
    texts = {name: corpus(asked.data, name) for name in ("covidqa", "chroma")}
    for name, text in texts.items():
        page += speed_table(name, text, compare(text, python, asked.tokenizer, asked.runs, versions))
    word = "aGVsbG8gd29ybGQ" * 13_654
    page += word_table(word, compare(word, python, asked.tokenizer, 1, versions))
    whole = "\n\n".join(texts.values())
    parts = [whole[: len(whole) // divisor] for divisor in (8, 4, 2, 1)]
    page += growth_table(whole, [growth(part, asked.tokenizer, asked.runs) for part in parts])
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text("\n".join(head(versions, asked.runs) + page), encoding="utf-8")


if __name__ == "__main__":
    if "--worker" in sys.argv:
        work(*sys.argv[sys.argv.index("--worker") + 1 :])
    else:
        main()
