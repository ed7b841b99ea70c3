"""The C engine: arrays in, arrays out. No other package touches the C library."""

from stratkit.engine.batch import Batch, IllegalAction
from stratkit.engine.game import Game, game_names
from stratkit.engine.history import known_actions, past_actions
from stratkit.engine.observation import (
    board_planes,
    distinct_views,
    expand_planes,
    observation_dtype,
)
from stratkit.engine.public_tree import PublicTree
from stratkit.engine.replay import Replay, recurrence, replay, replay_columns, replay_many
from stratkit.engine.sampling import sample, uniform, uniform_rows
from stratkit.engine.subgames import Subgames
from stratkit.engine.tree import Tree
from stratkit.engine.worlds import (
    assign_types,
    begins_unsure,
    has_worlds,
    hidden_types,
    worlds,
)

__all__ = [
    "Batch",
    "Game",
    "IllegalAction",
    "PublicTree",
    "Replay",
    "Subgames",
    "Tree",
    "assign_types",
    "begins_unsure",
    "board_planes",
    "distinct_views",
    "expand_planes",
    "game_names",
    "has_worlds",
    "hidden_types",
    "known_actions",
    "observation_dtype",
    "past_actions",
    "recurrence",
    "replay",
    "replay_columns",
    "replay_many",
    "sample",
    "uniform",
    "uniform_rows",
    "worlds",
]
