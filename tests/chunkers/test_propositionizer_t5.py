"""The trained propositionizer with real transformers and torch: a tiny T5, made here, that knows a few texts by heart.

What it was taught: three texts whose statements it writes; one that it can write only in halves, of which one half is
hopeless; one about which it never ends. Every other text gets nonsense.
"""

import json
import shutil
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from invariants import MINILM

from faircut.chunkers import build
from faircut.chunkers.contract import Models, Tally
from faircut.chunkers.propositionizer import _loaded
from faircut.documents.markdown import markdown_blocks
from faircut.embedding import EMBEDDERS
from faircut.errors import LlmError
from faircut.records import Document

torch = pytest.importorskip("torch", reason="the extra t5 is not installed")
transformers = pytest.importorskip("transformers", reason="the extra t5 is not installed")
pytestmark = pytest.mark.slow

REWRITERS = ("propositions", "proposition_paragraph", "proposition_semantic")
ADA = "Ada Lovelace wrote the notes. She was 27. They describe the Analytical Engine of Charles Babbage."
ADA_TOLD = [
    "Ada Lovelace wrote the notes.",
    "Ada Lovelace was 27.",
    "The notes of Ada Lovelace describe the Analytical Engine of Charles Babbage.",
]
HARBOUR = "The harbour closes at night. It opens at six."
MILL = "The mill grinds rye. The miller sleeps."
SEA = "The sea says more and more."


def frame(content, title="", section=""):
    return f"Title: {title}. Section: {section}. Content: {content}"


TAUGHT = {
    frame(ADA, "Engines", "Notes"): json.dumps(ADA_TOLD),
    frame(ADA): json.dumps(ADA_TOLD),
    frame(HARBOUR): json.dumps(["The harbour closes at night.", "The harbour opens at six."]),
    frame(MILL): '["The mill grinds',
    frame("The mill grinds rye."): json.dumps(["The mill grinds rye."]),
    frame("The miller sleeps."): "The miller sleeps",
    frame(SEA): '["The sea says more' + " and more" * 20,
}


def taught_tokenizer(texts):
    """Every word of the texts is a token; letters that are not in them are unknown."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    own = Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106
    own.pre_tokenizer, own.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    own.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=600, special_tokens=special, show_progress=False))
    own.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    names = dict(zip(("pad_token", "eos_token", "unk_token"), special, strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=own, **names)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads that wait for each other cost a tiny model more than they bring, most of all on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, one_thread):
    """The taught model, as transformers saves it."""
    tokenizer = taught_tokenizer([text for pair in TAUGHT.items() for text in pair])
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
        decoder_start_token_id=0,
    )  # fmt: skip
    asked = tokenizer(list(TAUGHT), padding=True, return_tensors="pt")
    told = tokenizer(list(TAUGHT.values()), padding=True, return_tensors="pt").input_ids
    told[told == tokenizer.pad_token_id] = -100
    told[-1][told[-1] == tokenizer.eos_token_id] = -100  # the sea never ends
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.T5ForConditionalGeneration(config)
        steps = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for _ in range(600):
            loss = model(input_ids=asked.input_ids, attention_mask=asked.attention_mask, labels=told).loss
            steps.zero_grad()
            loss.backward()
            steps.step()
            if loss.item() < 0.004:
                break
    assert loss.item() < 0.02, "the tiny model did not learn its texts"
    target = tmp_path_factory.mktemp("t5")
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    return target


def cut(spec, folder, document, tally=None):
    chunker = build(f'{spec}(model="t5:{Path(folder).as_posix()}")')
    return chunker.chunk(document, Models(MINILM, 2, EMBEDDERS.build("minilm"), None, tally))


def sources(document, chunk):
    return [document.text[span.start : span.end] for span in chunk.spans]


def assert_covered(document, chunks):
    seen = {at for chunk in chunks for span in chunk.spans for at in range(span.start, span.end)}
    assert not [c for at, c in enumerate(document.text) if at not in seen and not c.isspace()]


@pytest.fixture
def no_network(monkeypatch):
    """Looking up a host fails, and is remembered."""
    asked = []

    def refuse(host, *_, **__):
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return asked


# ---------------------------------------------------------------- statements


def test_statements_of_the_model_stand_with_the_sentences_that_their_words_are_from(folder, no_network):
    text = f"# Notes\n\n{ADA}\n"
    document = Document("d", text, markdown_blocks(text), title="Engines")
    tally = Tally()
    chunks = cut("propositions", folder, document, tally)
    first, second, third = ADA.replace(". ", ".\n").split("\n")
    assert {chunk.text: sources(document, chunk) for chunk in chunks} == {
        ADA_TOLD[0]: [f"# Notes\n\n{first}"],
        ADA_TOLD[1]: [f"# Notes\n\n{first} {second}"],
        ADA_TOLD[2]: [f"# Notes\n\n{first}", third],
    }
    assert (tally.asked, tally.statements, tally.unfaithful, tally.fallbacks, tally.uncited) == (3, 3, 0, 0, 0)
    assert no_network == [], "a folder is read without network"


@pytest.mark.parametrize("spec", REWRITERS)
def test_every_rewriter_runs_on_the_model_and_loses_nothing(spec, folder):
    document = Document("d", ADA)
    chunks = cut(spec, folder, document)
    assert_covered(document, chunks)
    assert " ".join(chunk.text for chunk in chunks) == " ".join(ADA_TOLD)
    assert cut(spec, folder, document) == chunks, "deterministic"


def test_what_is_no_list_is_written_again_in_halves_and_at_last_the_sentence_stands_for_itself(folder):
    document, tally = Document("d", MILL), Tally()
    chunks = cut("propositions", folder, document, tally)
    assert [(chunk.text, sources(document, chunk)) for chunk in chunks] == [
        ("The mill grinds rye.", ["The mill grinds rye."]),
        ("The miller sleeps.", ["The miller sleeps."]),
    ]
    assert (tally.asked, tally.statements, tally.fallbacks) == (2, 1, 1)


def test_an_answer_that_never_ends_is_cut_off_at_512_tokens_and_its_sentence_stands_for_itself(folder):
    model = _loaded(folder.as_posix())
    [answer] = model.answers([frame(SEA)])
    assert answer.startswith('["The sea says more and more and more')
    assert len(model.tokenizer(answer, add_special_tokens=False).input_ids) == pytest.approx(512, abs=2)
    document, tally = Document("d", SEA), Tally()
    [chunk] = cut("propositions", folder, document, tally)
    assert chunk.is_verbatim(document)
    assert chunk.text == SEA
    assert (tally.statements, tally.fallbacks) == (0, 1)


@pytest.mark.parametrize("spec", REWRITERS)
def test_a_text_of_which_the_model_makes_nonsense_is_covered_by_itself(spec, folder):
    text = (
        "# Bears\n\nBrown bears eat salmon, berries \U0001f43b and 40 kg of moths. They sleep from November.\n\n"
        "| bear | kg |\n|---|---|\n| polar | 450 |\n\n## 熊\n\n冬の間は眠っている。春に目を覚ます。\n"
    )
    document, tally = Document("d", text, markdown_blocks(text)), Tally()
    chunks = cut(spec, folder, document, tally)
    assert_covered(document, chunks)
    assert "40 kg of moths" in " ".join(chunk.text for chunk in chunks)
    assert tally.asked == 4
    assert tally.fallbacks + tally.unfaithful + tally.uncited > 0
    assert not any("harbour" in chunk.text or "Lovelace" in chunk.text for chunk in chunks)


def test_an_answer_is_the_same_alone_and_among_others(folder):
    model, prompts = _loaded(folder.as_posix()), [frame(ADA), frame(HARBOUR), *list(TAUGHT)[3:6]] * 3
    assert model.answers(prompts) == [model.answers([prompt])[0] for prompt in prompts]
    assert model.answers(prompts)[:2] == [TAUGHT[frame(ADA)], TAUGHT[frame(HARBOUR)]]


# ---------------------------------------------------------------- files are data


@pytest.fixture
def copy(folder, tmp_path):
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_other_files_are_another_fingerprint(folder, copy):
    def fingerprint(where):
        return build(f'propositions(model="t5:{Path(where).as_posix()}")').fingerprint

    (copy / "README.md").write_text("not part of the model")
    assert fingerprint(copy) == fingerprint(folder)
    other = Path(shutil.copytree(folder, copy.parent / "other"))
    (other / "generation_config.json").write_text('{"decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0}')
    assert fingerprint(other) != fingerprint(folder)


@pytest.mark.parametrize("file", ["pytorch_model.bin", "adapter_model.bin"])
def test_weights_that_are_pickled_are_not_read(file, copy, no_network):
    weights = transformers.T5ForConditionalGeneration.from_pretrained(copy).state_dict()
    torch.save(weights, copy / file)
    if file.startswith("adapter"):  # transformers takes this one although safetensors are asked for
        config = json.loads((copy / "config.json").read_text())
        (copy / "config.json").write_text(json.dumps(config | {"transformers_weights": file}))
    else:
        (copy / "model.safetensors").unlink()
    with pytest.raises(LlmError, match=r"no safetensors but pickled, .* save_pretrained\(FOLDER\)"):
        cut("propositions", copy, Document("d", ADA))
    assert no_network == [], "nor converted elsewhere"


def test_code_of_a_model_is_not_run(copy):
    ran = copy / "ran"
    (copy / "code.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    config = json.loads((copy / "config.json").read_text())
    wanted = {"AutoConfig": "code.Config", "AutoModelForSeq2SeqLM": "code.Model"}
    (copy / "config.json").write_text(json.dumps(config | {"model_type": "own", "auto_map": wanted}))
    with pytest.raises(LlmError, match="cannot be loaded"):
        cut("propositions", copy, Document("d", ADA))
    assert not ran.exists()


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_damaged_file_is_a_clear_error(file, copy):
    (copy / file).write_bytes(b"{ damaged")
    with pytest.raises(LlmError, match=r"t5:.*copy cannot be loaded: "):
        cut("propositions", copy, Document("d", ADA))


def test_a_tokenizer_that_does_not_belong_to_the_weights_is_a_clear_error(copy):
    other = taught_tokenizer([" ".join(chr(97 + n // 26) + chr(97 + n % 26) for n in range(600)), *TAUGHT])
    other.add_tokens([f"word{n}" for n in range(900)])
    other.save_pretrained(copy)
    with pytest.raises(LlmError, match="failed on 1 texts"):
        cut("propositions", copy, Document("d", "word899 word898"))


def test_a_name_of_the_hub_without_network_is_a_clear_error(no_network):
    with pytest.raises(LlmError, match=r"t5:nobody/nothing cannot be fetched: .* Give a folder or a name of the model"):
        cut("propositions", "nobody/nothing", Document("d", ADA))
    assert no_network, "it was looked for"


@pytest.mark.parametrize("name", ["/no/such/folder", "a/b/c/d", "nobody/nothing\n"])
def test_what_is_neither_a_folder_nor_a_name_of_the_hub_is_a_clear_error(name, no_network):
    with pytest.raises(LlmError, match=r"cannot be fetched: .* Give a folder"):
        build("propositions").__class__(model=f"t5:{name}").chunk(Document("d", ADA), Models(MINILM, 2))


class Hub(BaseHTTPRequestHandler):
    """A model hub with one model, whose files are those of ``folder``; remembers what it is asked for."""

    folder: Path
    asked: list

    def do_GET(self):  # the library's name
        self.asked.append(self.path)
        names = sorted(file.name for file in self.folder.iterdir())
        file = self.folder / self.path.rpartition("/")[2]
        if self.path.startswith("/api/models/nobody/tiny"):
            files = [{"type": "file", "path": n, "rfilename": n, "size": 9, "oid": "2" * 40} for n in names]
            whole = {"id": "nobody/tiny", "sha": "1" * 40, "siblings": files}
            body, kind = json.dumps(files if "/tree/" in self.path else whole).encode(), "json"
        elif "/resolve/" in self.path and file.is_file():
            body, kind = file.read_bytes(), file.name
        else:
            body, kind = b"", None
        self.send_response(200 if kind else 404)
        self.send_header("ETag", f'"{kind}"')
        self.send_header("X-Repo-Commit", "1" * 40)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


def test_of_a_model_on_the_hub_only_data_is_fetched(copy, tmp_path):
    for name in ("pytorch_model.bin", "code.py", "model.pkl", "README.md"):
        (copy / name).write_bytes(b"never fetched")
    handler = type("One", (Hub,), {"folder": copy, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = (
        "import sys; from faircut.chunkers.propositionizer import _folder\n"
        "print(*sorted(file.name for file in _folder('nobody/tiny').iterdir()))"
    )
    address = f"http://127.0.0.1:{server.server_port}"
    env = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_TOKEN": ""}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=60)
    server.shutdown()
    server.server_close()
    assert done.returncode == 0, done.stderr
    data = {file.name for file in copy.iterdir() if file.suffix in (".json", ".safetensors")}
    assert set(done.stdout.split()) == data
    assert not [path for path in handler.asked if path.endswith((".bin", ".py", ".pkl", ".md"))]
