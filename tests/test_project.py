"""What holds for the project as a whole: its rooms, its checkers, its commands and their pages."""

from __future__ import annotations

import ast
import functools
import graphlib
import http.server
import importlib.metadata
import io
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Mapping

import click
import pytest

from running import COMMANDS, PROJECT, ROOT, click_command
from stratkit import __version__
from stratkit.cli.stratkit import TOOLS
from stratkit.engine import game_names

PACKAGE = ROOT / "stratkit"

# Which rooms a room may import from, besides itself and what all share.
ROOMS = {
    "engine": set(),
    "adapters": {"engine", "games", "players"},
    "notation": {"engine"},
    "games": {"engine", "notation"},
    "storage": {"engine"},
    "nets": {"engine"},
    "models": {"engine", "nets", "storage"},
    "search": {"engine", "nets"},
    "players": {"engine", "games", "nets", "models", "search", "storage"},
    "setups": {"engine", "models", "notation", "players", "search", "storage"},
    "play": {"players", "engine", "models", "search", "storage"},
    "ucc": {"play", "players", "games", "engine", "storage"},
    "humans": {
        "players",
        "models",
        "search",
        "setups",
        "convert",
        "games",
        "notation",
        "engine",
        "storage",
    },
    "match": {
        "humans",
        "play",
        "ucc",
        "setups",
        "players",
        "games",
        "notation",
        "engine",
        "storage",
        "rating",
    },
    "learn": {"nets", "models", "search", "storage", "engine"},
    "rating": {"storage"},
    "solve": {"engine", "learn", "models", "players", "rating", "search", "storage", "ucc"},
    "convert": {"games", "notation", "storage", "engine"},
    "cli": {
        "engine",
        "notation",
        "storage",
        "nets",
        "models",
        "players",
        "play",
        "ucc",
        "humans",
        "match",
        "convert",
        "learn",
        "rating",
        "setups",
        "solve",
    },
}
# With all rooms.
SHARED = {
    "arguments",
    "arrays",
    "compressed",
    "declared",
    "errors",
    "frozen",
    "netnames",
    "pages",
    "pictures",
    "python_class",
    "regular",
    "script",
    "terminal",
    "threads",
    "version",
}
LONGEST_FUNCTION = 60  # lines


def tracked(*patterns: str) -> list[pathlib.Path]:
    """The project's files that match, whether or not this is a git checkout."""
    skipped = {".venv", "build", "dist", "demo"}
    found = (path for pattern in patterns for path in ROOT.glob(pattern))
    return sorted(p for p in found if not skipped & set(p.relative_to(ROOT).parts))


@functools.cache
def nodes(path: pathlib.Path) -> list[ast.AST]:
    """All parts of a file of Python."""
    return list(ast.walk(ast.parse(path.read_text())))


@functools.cache
def imports(path: pathlib.Path) -> list[str]:
    """All modules that a file imports, wherever the import stands."""
    names: list[str] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_a_room_that_lists_its_files_lists_all_of_them() -> None:
    listing = 0
    for room in ROOMS:
        files = {path.name for path in (PACKAGE / room).glob("*.py")} - {"__init__.py"}
        text = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or ""
        if listed := re.findall(r"^ *(\w+\.py) ", text, re.M):
            assert set(listed) == files and len(listed) == len(files), f"{room}: {listed}"
            listing += 1
    assert listing >= 6


def test_rooms_import_only_what_they_may() -> None:
    assert set(ROOMS) == {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    for room, allowed in ROOMS.items():
        used = set()
        for path in (PACKAGE / room).rglob("*.py"):
            for name in imports(path):
                package, _, rest = name.partition(".")
                if package == "stratkit":
                    used.add(target := rest.split(".")[0])
                    assert target in {room, *SHARED, *allowed}, (
                        f"{path.relative_to(ROOT)} imports {name}"
                    )
        assert used >= allowed, f"{room} uses none of {allowed - used}"


def circle(modules: Mapping[str, pathlib.Path]) -> list[str]:
    """Modules that import one another in turn, wherever the imports stand, if there are any."""
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        graph[module] = set()
        for name in imports(path):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name not in ("", module):
                graph[module].add(name)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_one_another(tmp_path: pathlib.Path) -> None:
    """Who reads one of a circle reads them all."""
    modules = {"stratkit.engine._engine": ROOT / "setup.py"}  # the C library: it imports nothing
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        modules[name.removesuffix(".__init__")] = path
    assert len(modules) > 100 and circle(modules) == []
    for name, code in (("a", "import b"), ("b", "def f():\n  from c import d"), ("c", "import a")):
        (tmp_path / f"{name}.py").write_text(code)
    files = {name: tmp_path / f"{name}.py" for name in "abc"}
    assert set(circle(files)) == {*"abc"} and circle({"a": files["a"], "b": files["b"]}) == []


def test_only_the_engine_touches_the_c_library() -> None:
    in_c = re.compile(r"cffi|ctypes|stratkit\.engine\.(_engine|library|python_game)\b")
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "engine":
            for name in imports(path):
                assert not in_c.match(name), path


def test_all_that_is_imported_is_a_stated_dependency() -> None:
    texts = list(PROJECT["dependencies"])
    for extra in ("learn", "play", "plot", "pettingzoo", "openspiel"):
        texts += PROJECT["optional-dependencies"][extra]
    stated = [re.split(r"[^\w-]", text)[0].replace("-", "_") for text in texts]
    names = {name.split(".")[0] for path in PACKAGE.rglob("*.py") for name in imports(path)}
    outside = names - set(sys.stdlib_module_names) - {"stratkit"}
    assert outside | {"cffi"} == set(stated)  # cffi is what the C engine is loaded with


# What only some games have anything to do with: modules of the engine, and attributes of a game.
OF_ONE_GAME = r"stratkit\.engine\.(stratego|diplomacy|observation|worlds)\b"
ATTRIBUTES_OF_ONE_GAME = {"start_bytes"}


def game_knowledge(path: pathlib.Path) -> list[str]:
    """What a file knows of one game: by its imports, attributes and strings."""
    known = [name for name in imports(path) if re.match(OF_ONE_GAME, name)]
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES_OF_ONE_GAME:
            known.append(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            known += [name for name in game_names() if node.value.split(":")[0] == name.strip(":")]
    return known


def test_learning_and_play_know_no_game(tmp_path: pathlib.Path) -> None:
    """What is written for one game would not be tested by the others."""
    episodes = [f"stratkit/storage/{name}.py" for name in ("episodes", "columns", "frames")]
    paths = tracked("stratkit/learn/*.py", "stratkit/play/*.py", *episodes)
    assert len(paths) > 10
    assert {path: known for path in paths if (known := game_knowledge(path))} == {}
    for code in ("from stratkit.engine.diplomacy import Graph", "game.start_bytes - 5", "'hex:5'"):
        (tmp_path / "a.py").write_text(code)
        nodes.cache_clear()
        imports.cache_clear()
        assert len(game_knowledge(tmp_path / "a.py")) == 1, code


# Who may ask which game it is: the engine, which plays it, and the kits and texts of each game.
MAY_ASK = ("engine", "games", "notation")
NAMES = {name.strip(":") for name in game_names()} - {"moves"}  # a common word, too
ABOUT_ONE = re.compile(rf"(is|of|plays)_(stratego|{'|'.join(NAMES)})")


def names_a_game(node: ast.AST) -> bool:
    """Whether an expression is a game's name, the beginning of one, or the list of variants."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(names_a_game, node.elts))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.partition(":")[0] in NAMES
    return isinstance(node, ast.Name) and node.id == "VARIANTS"


def questions(path: pathlib.Path) -> list[str]:
    """Where a file asks which game it is."""
    found = [f"{path.name}: {name}" for name in imports(path) if re.search(r"\.\w+Kit$", name)]
    for node in nodes(path):
        asks = False
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.FunctionDef(name=name):
                asks = bool(ABOUT_ONE.fullmatch(name))
            case ast.Compare():
                asks = any(map(names_a_game, [node.left, *node.comparators]))
            case ast.Call(func=ast.Attribute(value=value, attr="get")):
                asks = isinstance(value, ast.Name) and names_a_game(value)
            case ast.Call(func=ast.Attribute(attr="startswith" | "removeprefix")):
                asks = any(map(names_a_game, node.args))
            case ast.MatchValue(value=value):
                asks = names_a_game(value)
            case ast.JoinedStr(values=[first, *_]):
                asks = names_a_game(first) and ":" in ast.unparse(first)
        if asks:
            found.append(f"{path.name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}")
    return found


def test_nobody_asks_which_game_it_is(tmp_path: pathlib.Path) -> None:
    """What differs from game to game is in the engine's description and in the game's kit."""
    rooms = [room for room in ROOMS if room not in MAY_ASK]
    paths = tracked("stratkit/*.py", *(f"stratkit/{room}/**/*.py" for room in rooms))
    assert len(paths) > 150
    assert [question for path in paths for question in questions(path)] == []
    for code in (
        "game.is_stratego",
        "def is_hex(game): pass",
        "game.name in VARIANTS",
        "VARIANTS.get(game.name)",
        "game.name.startswith('diplomacy:')",
        "game.name == 'kuhn'",
        "game.name in ('barrage', 'classic')",
        "f'hex:{size}'",
        "from stratkit.games.stones import HexKit",
    ):
        (tmp_path / "a.py").write_text(code)
        nodes.cache_clear()
        imports.cache_clear()
        assert len(questions(tmp_path / "a.py")) == 1, code


def test_no_function_is_long() -> None:
    for path in tracked("stratkit/**/*.py"):
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                assert lines <= LONGEST_FUNCTION, f"{path.relative_to(ROOT)}: {node.name}"


# Of whom product classes inherit what is documented elsewhere.
OUTSIDE = (click.ParamType, click.Group, io.RawIOBase, http.server.ThreadingHTTPServer)
Classes = dict[str, list[tuple[set[str], set[str]]]]  # by name: names of bases, and of members


def members(cls: ast.ClassDef) -> set[str]:
    """Names of methods and of annotated attributes."""
    named = {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
    declared = (node.target for node in cls.body if isinstance(node, ast.AnnAssign))
    return named | {target.id for target in declared if isinstance(target, ast.Name)}


def bases(cls: ast.ClassDef) -> set[str]:
    """Names of base classes, without modules and type arguments."""
    return {re.sub(r"\[.*", "", ast.unparse(base)).split(".")[-1] for base in cls.bases}


def inherits(names: set[str], method: str, classes: Classes) -> bool:
    """Whether a class with these bases overrides the method of one."""
    for name in names:
        if name not in classes:
            if any(hasattr(base, method) for base in OUTSIDE):
                return True
        elif any(
            method in own or inherits(further - {name}, method, classes)
            for further, own in classes[name]
        ):
            return True
    return False


def undocumented(files: list[pathlib.Path]) -> list[str]:
    """Public functions, classes and methods, overrides aside, that have no docstring."""
    classes: Classes = {}
    for path in files:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append((bases(node), members(node)))
    missing = []

    def visit(body: list[ast.stmt], where: str, names: set[str]) -> None:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            if not ast.get_docstring(node) and not inherits(names, node.name, classes):
                missing.append(f"{where}{node.name}")
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{where}{node.name}.", bases(node))

    for path in files:
        tree = nodes(path)[0]
        assert isinstance(tree, ast.Module)
        visit(tree.body, f"{path.name}: ", set())
    return missing


def test_every_public_definition_has_a_docstring(tmp_path: pathlib.Path) -> None:
    assert undocumented(tracked("stratkit/**/*.py")) == []
    file = tmp_path / "a.py"
    file.write_text(
        "class A:\n    def f(self): ...\n    def _g(self): ...\n"
        "class B(A):\n    'Doc.'\n    def f(self): ...\n    def h(self): ...\n"
        "class C(click.ParamType):\n    'Doc.'\n    def convert(self): ...\n"
        "def k(): 'Doc.'\ndef m(): ...\n"
    )
    assert undocumented([file]) == ["a.py: A", "a.py: A.f", "a.py: B.h", "a.py: m"]


@pytest.mark.parametrize(
    "arguments", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join
)
def test_checkers_are_silent(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_versions_agree() -> None:
    for page in tracked("man/*.[157]"):
        (title,) = re.findall(r"^\.TH .*", page.read_text(), re.M)
        assert f'"stratkit {__version__}"' in title, page
    try:
        installed = importlib.metadata.version("stratkit")
    except importlib.metadata.PackageNotFoundError:
        return  # the tests run from a bare checkout
    assert installed == __version__


def test_every_dependency_is_pinned() -> None:
    pins = dict(
        line.lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    )
    wanted = list(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"].values():
        wanted += extra
    for requirement in wanted:
        name, least = requirement.lower().split(">=")
        assert name in pins, name
        assert [int(n) for n in pins[name].split(".")] >= [int(n) for n in least.split(".")]
    assert pins["torch"] == "2.13.0"


# --- commands, launchers, pages -------------------------------------------------------------------


def test_every_command_has_all_its_parts() -> None:
    assert [p.name for p in sorted((ROOT / "bin").iterdir())] == COMMANDS
    assert [p.stem for p in sorted((ROOT / "man").glob("*.1"))] == COMMANDS
    for name in COMMANDS:
        module = name.replace("-", "_")
        assert PROJECT["scripts"][name] == f"stratkit.cli.{module}:main"
    assert sorted([*TOOLS, "stratkit"]) == COMMANDS  # which `stratkit NAME` starts
    (text,) = {(ROOT / "bin" / name).read_text() for name in COMMANDS}
    assert text.startswith("#!/bin/sh\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_launchers_work_through_links_from_anywhere(name: str, tmp_path: pathlib.Path) -> None:
    link = tmp_path / "some name"
    link.symlink_to(ROOT / "bin" / name)
    (tmp_path / "click.py").write_text("raise SystemExit('a file of the folder was imported')\n")
    # Without .venv it is the Python of the PATH; here that is the tests' own.
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [link, "--version"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"{name} (stratkit) {__version__}\n", "")


def test_launchers_tell_of_a_folder_as_stdin(tmp_path: pathlib.Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    done = subprocess.run(
        [ROOT / "bin/rate", "-"], stdin=folder, capture_output=True, text=True, check=False
    )
    os.close(folder)
    assert (done.returncode, done.stderr) == (1, "rate: standard input: Is a directory\n")


def options_of(command: click.Command) -> set[str]:
    """All names of options of the command and its subcommands."""
    context = click.Context(command)
    names = {
        name
        for param in command.get_params(context)
        if isinstance(param, click.Option) and not param.hidden
        for name in param.opts + param.secondary_opts
    }
    for sub in getattr(command, "commands", {}).values():
        names |= options_of(sub)
    return names


def tags_of(page: str) -> list[str]:
    """The lines that follow .TP in a page: what is explained there."""
    return re.findall(r"^\.TP.*\n(.*)", page.replace("\\-", "-").replace("\\f", " "), re.M)


@pytest.mark.parametrize("name", COMMANDS)
def test_pages_name_every_option_and_no_other(name: str) -> None:
    page = (ROOT / "man" / f"{name}.1").read_text()
    found = {o for tag in tags_of(page) for o in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", tag)}
    assert found == options_of(click_command(name))


@pytest.mark.parametrize("name", COMMANDS)
def test_pages_have_the_usual_sections(name: str) -> None:
    page = (ROOT / "man" / f"{name}.1").read_text()
    assert page.startswith(f".TH {name.replace('-', chr(92) + '-').upper()} 1 ")
    sections = re.findall(r"^\.SH (.*)$", page, re.M)
    usual = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    assert [s for s in sections if s in usual] == usual
    for section in re.findall(r"^\.BR ([a-z\\-]+) \(1\)", page, re.M):
        assert section.replace("\\", "") in COMMANDS
    for sub in getattr(click_command(name), "commands", {}):
        assert f".SS {name} {sub}\n" in page


def test_every_exit_status_that_a_page_names_is_of_the_contract() -> None:
    known = {"0", "1", "2", "3", "4", "129", "130", "141", "143"}
    for name in COMMANDS:
        page = (ROOT / "man" / f"{name}.1").read_text()
        codes = {code for tag in tags_of(page) for code in re.findall(r"^\.B (\d+)$", tag)}
        assert {"0", "1", "2"} <= codes <= known, name


def test_the_audit_of_papers_names_files_and_tests() -> None:
    """bench/deepnash.md: what it says of an equation is where it says."""
    lines = (ROOT / "bench/deepnash.md").read_text().splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.count("|") == 5][2:]
    assert len(rows) > 40
    for text, file, _, test in rows:
        for name in re.findall(r"`(.+?\.(?:py|c|toml))`", file):
            assert any((at / name).exists() for at in (PACKAGE, ROOT)), (text, name)
        for name in re.findall(r"`(.+?)`", test):
            path, _, function = name.partition("::")
            assert f"def {function}(" in (ROOT / "tests" / path).read_text(), (text, name)


def lost_files(page: str) -> list[str]:
    """The files of a table that stand neither at their path nor in the folder that their row named
    before them."""
    lost = []
    for row in re.findall(r"^\| .*", page, re.M):
        folder = ROOT
        for name in re.findall(r"`([\w./-]+)`", row):
            path = next((at / name for at in (ROOT, folder) if (at / name).exists()), None)
            if not path and re.search(r"\.(c|h|md|py|txt)$", name):
                lost.append(name)
            if path:
                folder = path if path.is_dir() else path.parent
    return lost


def test_how_to_add_names_files_that_exist() -> None:
    assert lost_files("| x | a file of `stratkit/nets`, its case in `presets.py` there |") == [
        "presets.py"
    ]
    assert lost_files((ROOT / "CONTRIBUTING.md").read_text()) == []
