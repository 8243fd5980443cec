"""What the site adds to the pages in this folder: the results' navigation, and the files outside that pages link to.

Called by mkdocs (`hooks` in mkdocs.yml). The pages themselves stay as they read in the repository.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
RESULTS = "results/README.md"
OUTSIDE = {  # in the repository, and in the site
    "examples/README.md": "sample-corpus.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
SCRIPT = re.compile(r"(?<![\[`])`bench/(\w+)\.py`(?![\]`])")


def on_config(config: Any) -> Any:
    """Fill the results into the navigation."""
    for entry in config["nav"]:
        if "Results" in entry:
            entry["Results"] = [RESULTS, *results()]
    return config


def results() -> list[str]:
    """The pages of results that there are, from this folder."""
    found = sorted(path.name for path in (ROOT / "docs" / "results").glob("*.md"))
    return [f"results/{name}" for name in found if name != "README.md"]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie outside of this folder, and one for each script in bench/."""
    for source, target in OUTSIDE.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    for script in sorted((ROOT / "bench").glob("*.py")):
        page = f"bench/{script.stem}.md"
        files.append(File.generated(config, page, content=script_page(script)))
    return files


def script_page(script: Path) -> str:
    """The source as a page; the fence is longer than any inside. Search leaves it out."""
    source = script.read_text(encoding="utf-8")
    return f"---\nsearch:\n  exclude: true\n---\n# bench/{script.name}\n\n``````python\n{source}``````\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001  # mkdocs names them
    """Lead links out of this folder to the site's pages, and each script that is named to its source."""
    here = page.file.src_uri
    if here.startswith("bench/"):
        return markdown
    for source, target in OUTSIDE.items():
        markdown = markdown.replace(f"](../{source}", f"]({target}")
    up = "../" * here.count("/")
    markdown = SCRIPT.sub(lambda m: linked(m, up), markdown)
    return markdown + listing() if here == RESULTS else markdown


def linked(match: re.Match[str], up: str) -> str:
    """The name of a script with a link to its page, where there is such a script."""
    exists = (ROOT / "bench" / f"{match[1]}.py").exists()
    return f"[{match[0]}]({up}bench/{match[1]}.md)" if exists else match[0]


def listing() -> str:
    """A line for each page of results, by its title."""
    lines = []
    for name in results():
        title = (ROOT / "docs" / name).read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({name.removeprefix('results/')})")
    return "\n" + "\n".join(lines) + "\n"
