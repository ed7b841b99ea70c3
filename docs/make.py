"""Gathers the pages of the site in build/pages, for mkdocs: `make site`.

README.md, docs/, formats/, bench/ and the manual keep their places, so that their links hold.
A link to a file that is no page becomes plain text. mandoc renders the manual. A game of Diplomacy
is played for the site.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parents[1]
TARGET = ROOT / "build/pages"
LINK = re.compile(r"(?<!!)\[([^]]*)\]\(([^)#]+)(#[^)]*)?\)")
TEXTS = ("*.md", "docs/*.md", "formats/*.md", "bench/*.md", "examples/*.md", "examples/*/*.md")


def placed(name: str) -> str:
    """The place of a file of the repository in the site."""
    if re.fullmatch(r"man/.*\.[157]", name):
        return f"{name}.md"
    return re.sub(r"(^|/)README\.md$", r"\1index.md", name)


def linked(text: str, folder: str, pages: set[str]) -> str:
    """The text of a page in this folder, with links to pages only."""

    def target(link: re.Match[str]) -> str:
        words, path, anchor = link.groups()
        name = os.path.normpath(os.path.join(folder, path))
        if "://" in path:
            return link[0]
        if name not in pages:
            return words
        return f"[{words}]({os.path.relpath(placed(name), folder or '.')}{anchor or ''})"

    return LINK.sub(target, text)


def rendered(page: pathlib.Path) -> str:
    """A page of the manual, as a terminal of 100 columns shows it."""
    shown = ["mandoc", "-T", "utf8", "-O", "width=100", str(page)]
    text = subprocess.run(shown, capture_output=True, text=True, check=False).stdout
    plain = re.sub(r".\x08", "", text)
    return f"# {page.stem}({page.suffix[1:]})\n\n```\n{plain}\n```\n"


def played(folder: pathlib.Path) -> str:
    """Makes a game of seven networks as a page of maps in a folder; returns its name."""
    makefile, path = ROOT / "examples/diplomacy/Makefile", f"{ROOT / 'bin'}:{os.environ['PATH']}"
    made = ["make", "-s", "-f", str(makefile), "maps.html"]
    subprocess.run(made, cwd=folder, env={**os.environ, "PATH": path}, check=True)
    (folder / "maps.jsonl").unlink()
    return "maps.html"


def write() -> None:
    shutil.rmtree(TARGET, ignore_errors=True)
    manual = sorted((ROOT / "man").glob("[!.]*.[157]"))
    texts = [path for pattern in TEXTS for path in ROOT.glob(pattern)]
    pages = {str(path.relative_to(ROOT)) for path in (*manual, *texts)}
    made = {placed(str(path.relative_to(ROOT))): rendered(path) for path in manual}
    for path in texts:
        name = str(path.relative_to(ROOT))
        made[placed(name)] = linked(path.read_text(), os.path.dirname(name), pages)
    items = "".join(f"- [{p.stem}({p.suffix[1:]})]({p.name}.md)\n" for p in manual)
    made["man/index.md"] = f"# Manual\n\n{items}"
    for name, text in made.items():
        (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
        (TARGET / name).write_text(text)
    example = TARGET / "examples/diplomacy"
    with open(example / "index.md", "a") as page:
        page.write(f"\n[A game of seven networks]({played(example)}), phase by phase.\n")
    for pattern in ("bench/*.png", "examples/*.png", "examples/*/*.png"):
        for picture in ROOT.glob(pattern):
            place = TARGET / picture.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, place)


if __name__ == "__main__":
    write()
