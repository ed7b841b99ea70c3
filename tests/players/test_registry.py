"""One source for what may be asked of a player: parser, messages, help, completion and manual."""

from __future__ import annotations

import re

import pytest

from running import ROOT, here
from stratkit.declared import options_of, options_text, read_options
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.match import PLAYERS
from stratkit.models.shipped import LEARNED
from stratkit.players.factory import open_player
from stratkit.players.presets import ALPHAZE, ATARAXOS, DEEPNASH, FAST, SEARCHBOT, STRONG, STRONG_OF
from stratkit.players.registry import NETWORK, NetworkOptions, parse_player, words_of
from stratkit.players.searching.options import SearchOptions
from stratkit.players.testtime.options import PostProcessing
from stratkit.ucc.kind import ProgramOptions

KEYS = {"name", "setup", *(key for kind in PLAYERS for key, _ in kind.accepted())}


def paragraphs(page: str) -> list[tuple[list[str], str]]:
    """The keys that a paragraph of a page begins with, and the text of all of it."""
    parts = page.split(".TP\n")[1:]
    return [(re.findall(r"([a-z-]+)=", part.partition("\n")[0]), part) for part in parts]


def test_the_manual_has_a_paragraph_for_each_key() -> None:
    page = (ROOT / "man/match.1").read_text().replace("\\-", "-")
    keys = page[page.index(".SS Keys of every player") : page.index(".SS A player of your own")]
    found = [key for terms, _ in paragraphs(keys) for key in terms]
    program = {key for key, _ in options_of(ProgramOptions)}
    searching = {key for key, _ in options_of(SearchOptions)} - program - {"search"}
    assert set(found) - {"preset"} == KEYS - searching - {"preset"} and len(found) > 15
    assert found.count("preset") == len(NETWORK.presets)
    again = {key for key in found if found.count(key) > 1}
    assert again == {"preset", "clock"}  # a program's, and a person's


def test_the_page_of_search_has_the_keys_of_a_search_with_their_defaults() -> None:
    page = (ROOT / "man/stratkit-search.7").read_text().replace("\\-", "-")
    said = paragraphs(page.split("\n.SH KEYS\n")[1].split("\n.SH ")[0])
    defaults = {
        key: getattr(SearchOptions(), key.replace("-", "_")) for key, _ in options_of(SearchOptions)
    }
    defaults["depth"] = SearchOptions().plies
    assert {key for terms, _ in said for key in terms} == set(defaults) - {"search"}
    for terms, text in said:
        unset = ("worlds", "states", "warm", "opening")
        for value in (defaults[key] for key in terms if key not in unset):
            word = "no bound" if value is None else "off" if value is False else str(value)
            word = f"{value:g}".replace("0.", ".") if isinstance(value, float) else word
            said_so = rf"\(default:? {word}\)|^\.B {word}\n\(the default\)"
            assert re.search(said_so, text, re.M), terms


def test_the_manual_has_the_preset() -> None:
    page = (ROOT / "man/match.1").read_text().replace("\\-", "-")
    for preset in (DEEPNASH, ATARAXOS, ALPHAZE, SEARCHBOT, FAST, STRONG):
        text = ", ".join(f"{key}={value}" for key, value in preset.items())
        assert text in " ".join(page.split())


def test_strong_searches_turns_where_the_network_plays_diplomacy() -> None:
    page = (ROOT / "man/match.1").read_text().replace("\\-", "-")
    for name, preset in STRONG_OF.items():
        keys = ",".join(f"{key}={value}" for key, value in preset.items())
        short, long = (parse_player(f"{words},{name}").options for words in ("preset=strong", keys))
        assert short == long and short.searching.search == "rm" and short.post == PostProcessing()
        assert keys.replace(",", ", ") in " ".join(page.split())
        game = Game(LEARNED[name])
        assert open_player(parse_player(f"preset=strong,{name}"), game, 1, 1).spec.count("rm") == 1
    assert parse_player("depth=1,preset=strong,fva-v1").options.searching.plies == 1
    assert parse_player("preset=strong,barrage").options.searching.search == "mmd"


def test_help_and_completion_have_each_key() -> None:
    done = here("match", "--help")
    for key in KEYS:
        assert re.search(rf"^  {key}=\S", done.out, re.MULTILINE), key
        assert key == "name" or words_of(PLAYERS).count(f"{key}=") == 1


def test_help_says_once_a_section_for_whom_its_keys_are() -> None:
    _, *sections = re.split(r"^Keys of (.+):\n", here("match", "--help").out, flags=re.MULTILINE)
    found = [
        (key, set(whom.split(", ")))
        for whom, text in zip(sections[::2], sections[1::2], strict=True)
        for key in re.findall(r"^  ([a-z-]+)=\S", text, re.MULTILINE)
    ]
    assert len(sections[::2]) == len(set(sections[::2])) > 3
    assert found[:2] == [("name", {"every PLAYER"}), ("setup", {"every PLAYER"})]
    for kind in PLAYERS:
        own = [key for key, whom in found if kind.name in whom]
        assert sorted(own) == sorted(key for key, _ in kind.accepted()), kind.name


def test_text_and_options_are_one() -> None:
    """What a record says of a network's options asks for the same again."""
    for texts in (DEEPNASH, {"bounds": "off", "ties": "random"}, {"memory": "renormalised"}):
        asked = read_options(PostProcessing, texts)
        spec = parse_player(f"net=average,{options_text(asked)}barrage-easy")
        assert spec.options == NetworkOptions("average", asked)
    for texts in (
        ATARAXOS,
        {**ALPHAZE, "split": "on"},
        {"search": "mmd", "worlds": "7", "belief": "policy", "time": ".5"},
    ):
        searching = read_options(SearchOptions, texts)
        spec = parse_player(f"{options_text(searching)}barrage-easy")
        assert spec.options == NetworkOptions(searching=searching)
        assert parse_player(f"{options_text(searching)}heuristic").options == searching


def test_explicit_keys_override_the_preset() -> None:
    asked = parse_player("quanta=4,preset=deepnash,barrage-easy").options.post
    assert asked == read_options(PostProcessing, {**DEEPNASH, "quanta": "4"})


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("threshold=2,run", "threshold=2: a number from 0 to 1 is needed"),
        ("temperature=0,run", "temperature=0: a number from .01 to 100 is needed"),
        ("eager=nan,run", "eager=nan: a number from .01 to 100 is needed"),
        ("quanta=1_0,run", "quanta=1_0: a whole number from 0 to 10000 is needed"),
        ("bounds=of,run", "bounds=of: off, or a number from 0 to 2 is needed"),
        ("memory=onn,run", "one of off, on, renormalised is needed (did you mean 'on'?)"),
        (
            "preset=deepnsh,run",
            "alphaze, searchbot, strong is needed (did you mean 'deepnash'?)",
        ),
        ("preset=deepnash,random", "preset=deepnash: one of ataraxos, alphaze, searchbot is"),
        ("preset=strong,heuristic", "preset=strong: one of ataraxos, alphaze, searchbot is needed"),
        (
            "search=pimcs,run",
            "one of mmd, pimc, pc-pimc, cfr, cfr-avg, fp, linear-fp, flop, rm, endgame is needed "
            "(did you mean 'pimc'?)",
        ),
        ("search=pimc,pick=drawn,run", "pick= needs search=pc-pimc"),
        ("search=mmd,nodes=5,run", "nodes= needs search=pimc|pc-pimc"),
        ("search=pimc,rollouts=5,run", "rollouts= needs search=mmd"),
        ("search=pimc,nodes=0,run", "nodes=0: a whole number from 1 to 1000000 is needed"),
        ("search=pc-pimc,noise=2,run", "noise=2: a number from 0 to 1 is needed"),
        ("search=mmd,depth=-1,run", "depth=-1: a whole number from 0 to 2000 is needed"),
        ("search=mmd,rollouts=0,run", "rollouts=0: a whole number from 1 to 1000000 is needed"),
        ("search=mmd,eta=1e9,run", "eta=1e9: a number from 0 to 1000 is needed"),
        ("search=mmd,belief=polcy,run", "slash is needed (did you mean 'policy'?)"),
        ("search=mmd,time=0,run", "time=0: a number of seconds above 0, at most 3600 is needed"),
        ("quiet=40,preset=fast,run", "quiet= needs search=mmd|pimc|pc-pimc"),
        ("depth=4,run", "depth= needs search=mmd"),
        ("eta=4,preset=deepnash,run", "eta= needs search=mmd"),
        ("worlds=3,heuristic", "worlds= needs search=mmd"),
        ("worlds=3,human", "worlds= is for random and heuristic and networks"),
        ("time=0,ucc:x", "time=0: a number of seconds above 0, at most 86400 is needed"),
        ("nodes=0,ucc:x", "nodes=0: a whole number from 1 to 999999999999999999 is needed"),
        ("net=online,ucc:x", "net= is for networks"),
        ("quanta=4,heuristic", "quanta= is for networks"),
        ("offers=a,random", "offers= is for people"),
        ("time=3,run", "time= needs search="),
        ("shuttle=off,run", "unknown option 'shuttle'"),
        ("treshold=.1,run", "unknown option 'treshold' (did you mean 'threshold'?)"),
    ],
)
def test_what_is_wrong(text: str, what: str) -> None:
    with pytest.raises(UsageError, match=re.escape(what)):
        parse_player(text, PLAYERS)


def test_every_option_has_a_help() -> None:
    for key, option in options_of(NetworkOptions):
        assert 10 < len(option.help) < 100 and not option.help.endswith("."), key
    assert len(list(NETWORK.accepted())) == len(list(options_of(NetworkOptions))) + 1
