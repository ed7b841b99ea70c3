"""The keys of a PLAYER that searches. This module imports neither torch nor numpy."""

from __future__ import annotations

from stratkit.declared import number, one_of, option, seconds, switch, whole, word_or_file
from stratkit.frozen import frozen

MAX_SECONDS = 3600.0
TREE_WORDS = ("pimc", "pc-pimc")  # searches of trees of single worlds
TREES = "search=" + "|".join(TREE_WORDS)
WORLDS = 3  # of PIMC and PC-PIMC
EVALUATED = 256  # views of a search that a network evaluates at a time, at most
PLIES = 2  # of a rollout after the move
SAME_PREFIX = 16  # the same of what begins alike
SAMPLED = "search=" + "|".join(("mmd", *TREE_WORDS))  # searches of sampled worlds
SETUPS_AND = "setups+"  # begins a belief that weighs another one by the setups, too
PBS_WORDS = ("cfr", "cfr-avg", "fp", "linear-fp", "flop")  # searches of public belief states
PBS = "search=" + "|".join(PBS_WORDS)
TURNS = "search=rm"  # of simultaneous turns


@frozen()
class SearchOptions:
    """Whether and how a player searches; the defaults do nothing."""

    search: str | None = option(
        None,
        one_of("mmd", *TREE_WORDS, *PBS_WORDS, "rm", "endgame"),
        "search from each move; rm: from simultaneous turns; endgame: where little is hidden",
    )
    rollouts: int = option(
        512, whole(1, 1_000_000), "games played on for all moves together", needs="search=mmd"
    )
    worlds: int | None = option(
        None,
        whole(1, 4096),
        "worlds, the same for all moves (default: rollouts divided by moves; of trees 3)",
        needs=SAMPLED,
    )
    depth: int | None = option(
        None,
        whole(0, 2000),
        "plies of a rollout after the move (default: 2); decisions of a subgame, 0: to the end",
        needs="|".join(("search=mmd", *PBS_WORDS, "rm")),
    )
    eta: float = option(
        10.0,
        number(0.0, 1000.0),
        "step size: how far values change the policy",
        needs="search=mmd|endgame",
    )
    magnet: float = option(
        0.01, number(0.0, 100.0), "pull towards the uniform policy", needs="search=mmd|endgame"
    )
    hands: int = option(
        100,
        whole(1, 10_000),
        "search where neither side's hidden pieces can be more than so many assignments",
        needs="search=endgame",
    )
    explore: float = option(
        0.0,
        number(0.0, 1.0),
        "part of the policy that is uniform before values change it",
        needs="search=mmd",
    )
    nodes: int = option(
        800, whole(1, 1_000_000), "simulations of the tree of each world", needs=TREES
    )
    sees: str = option(
        "mover",
        one_of("mover", "world"),
        "what the network sees in a tree: what the side to move may know, or the world's pieces",
        needs=TREES,
    )
    split: bool = option(False, switch(), "divide the nodes among the worlds", needs=TREES)
    cpuct: float = option(
        2.5, number(0.0, 100.0), "how far the policy counts against values in a tree", needs=TREES
    )
    noise: float = option(
        0.0,
        number(0.0, 1.0),
        "part of the policy that is random at the root of a tree",
        needs=TREES,
    )
    pick: str = option(
        "best",
        one_of("best", "drawn"),
        "play the best move of the worlds' mean policy, or draw from it",
        needs="search=pc-pimc",
    )
    belief: str = option(
        "uniform",
        word_or_file("uniform", "setups", "policy", f"{SETUPS_AND}policy", "true"),
        f"which worlds are how likely; a belief network; {SETUPS_AND}FILE; true, in self-play",
        needs=f"{SAMPLED}|endgame",
    )
    time: float | None = option(
        None,
        seconds(MAX_SECONDS),
        "stop a search after so long; games are then not reproducible",
        needs=SAMPLED,
    )
    quiet: int = option(
        0,
        whole(0, 10_000),
        "search only once nobody has attacked for so many plies",
        needs=SAMPLED,
    )
    states: int | None = option(
        None,
        whole(1, 1_000_000),
        "public states that say the depth of a subgame (default: 5000 in play; self-play: depth=2)",
        needs=PBS,
    )
    iterations: int = option(
        1024,
        whole(2, 1_000_000, even=True),
        "T, updates of one player each, of a subgame of public belief states, or of both of a turn",
        needs=f"{PBS}|rm",
    )
    opening: int | None = option(
        None,
        whole(2, 1_000_000, even=True),
        "iterations of the game's first subgame (default: as many as of the others)",
        needs=PBS,
    )
    leaves: int = option(
        1,
        whole(1, 1000),
        "leaves of a subgame behind the first from which self-play goes on, at most",
        needs=PBS,
    )
    mode: str = option(
        "safe",
        one_of("safe", "average"),
        "play a random iteration, which cannot be foreseen, or the average of all",
        needs=PBS,
    )
    warm: int | None = option(
        None,
        whole(0, 1000),
        "begin at the network's policy, as if after so many iterations (default: none)",
        needs="search=cfr",
    )
    candidates: int = option(
        30, whole(1, 256), "whole choices of each player in a simultaneous turn", needs=TURNS
    )
    per_unit: float = option(
        0.0,
        number(0.0, 100.0),
        "of them no more than so many for each of its units; 0: whatever its units",
        needs=TURNS,
    )
    samples: int = option(
        256, whole(1, 100_000), "draws from which candidates are taken", needs=TURNS
    )
    games: int = option(1, whole(1, 10_000), "rollouts of each pair of candidates", needs=TURNS)
    rollout_temperature: float = option(
        1.0, number(0.01, 100.0), "temperature of the blueprint in rollouts", needs=TURNS
    )
    top_p: float = option(
        1.0,
        number(above=0.0, most=1.0),
        "rollouts play the most probable actions that have so much of the policy together",
        needs=TURNS,
    )
    play: str = option(
        "average",
        one_of("average", "final"),
        "which policies of regret matching are played",
        needs=TURNS,
    )

    def __post_init__(self) -> None:
        if self.depth is not None and self.states is not None:
            raise ValueError("depth= does not go with states=, which also says how far to look")

    @property
    def plies(self) -> int:
        """Of a rollout after the move."""
        return PLIES if self.depth is None else self.depth

    @property
    def of_turns(self) -> bool:
        """Whether simultaneous turns are searched, and nothing else."""
        return self.search == "rm"

    @property
    def of_beliefs(self) -> bool:
        """Whether public belief states are searched."""
        return self.search in PBS_WORDS

    def __bool__(self) -> bool:
        return self.search is not None

    @property
    def belief_file(self) -> str | None:
        """The file or RUN of a belief network; None: nothing is believed by one."""
        path = self.belief.removeprefix(SETUPS_AND)
        return path if {".", "/"} & set(path) else None

    @property
    def trees(self) -> int:
        """How many trees a decision has; 0: it is searched otherwise."""
        return (self.worlds or WORLDS) if self.search in TREE_WORDS else 0

    def rows(self, decisions: int) -> int:
        """How many views a network evaluates at a time if so many decisions are searched at once.
        Trees ask for one a round each. Whole actions of a turn begin alike: few views differ."""
        if self.of_turns:
            return SAME_PREFIX
        return min(EVALUATED, -(-self.trees * decisions // 8) * 8) if self.trees else EVALUATED
