"""Scripts of examples/: what is missing or wrong is said in one line."""

from __future__ import annotations

import runpy
import sys

import pytest

from running import ROOT

EXPORT, CALIBRATION = "players/export.py", "players/calibration.py"
ATTACKS = "players/attacks.py"
VALUES, BELIEFS = "rebel/value_error.py", "rebel/random_beliefs.py"


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        (EXPORT, "", "usage: export.py CHECKPOINT|RUN FILE [NET]"),
        (EXPORT, "a b c d", "usage: export.py CHECKPOINT|RUN FILE [NET]"),
        (EXPORT, "nowhere a", "export.py: nowhere: no such file or folder"),
        (CALIBRATION, "a", "usage: calibration.py PLAYER EPISODES PICTURE"),
        (CALIBRATION, "nowhere a b", "calibration.py: no such file or folder"),
        (ATTACKS, "barrage-v1 many", "usage: attacks.py PLAYER [GAMES [SEED]]"),
        (ATTACKS, "nowhere", "attacks.py: no such file or folder"),
        (VALUES, "nowhere", "value_error.py: nowhere: no such file or folder"),
        (BELIEFS, "a b c d", "usage: random_beliefs.py [GAME [EXAMPLES [SEED]]]"),
        (BELIEFS, "kuhn many", "usage: random_beliefs.py [GAME [EXAMPLES [SEED]]]"),
        (BELIEFS, "kuh", "random_beliefs.py: unknown game 'kuh' (did you mean 'kuhn'?)"),
    ],
)
def test_bad_words(script: str, words: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [script, *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
    assert isinstance(ended.value.code, str) and ended.value.code.startswith(said)
