#!/usr/bin/env bash
# The main job at its smallest: an agent learns Stratego on a board of 6 x 6, plays, and is rated.
# Usage: demo.sh [FOLDER [STEPS [GAMES]]]. The commands are found on the PATH; `make demo` sees to that.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -euo pipefail

folder=${1:-demo}
steps=${2:-1500}
games=${3:-400}
samples=$(cd "$(dirname "$0")" && pwd)/../formats/samples/gravon  # in a checkout

title() { printf '\n== %s\n' "$*" >&2; }
show() { printf '$ %s\n' "$*" >&2; "$@"; }

# Only a folder that this script made is removed.
if [ -e "$folder" ] && [ ! -e "$folder/.stratkit-demo" ]; then
    echo "demo.sh: $folder: is there already, and is none of demo.sh's: name another one" >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
touch "$folder/.stratkit-demo"
cd "$folder"

if [ -d "$samples" ]; then
    title "Logs of Gravon become FENfS, game records and setups"
    show fenfs convert --to fenfs "$samples"/barrage-*.xml -o barrage.fenfs
    show fenfs convert --to games "$samples" -o gravon.jsonl
    show fenfs show "$(sed -n 11p barrage.fenfs)"
fi

title "An agent learns mini Stratego from nothing: selfplay | train, $steps steps"
play="--game mini --policy run --follow --seed 1 --slots 32 --max-ahead 128 --slice 32"
learn="--out run --seed 1 --algorithm mmd --net fromto --batch 16 --steps $steps --save-every $((steps / 5))"
echo "\$ selfplay $play | train - $learn" >&2
# shellcheck disable=SC2086  # words of options
selfplay $play | train - $learn

title "It meets a random player, rules of thumb, and itself before it learned anything"
first=run/checkpoints/step-00000000.safetensors
show match random heuristic "name=untrained,$first" name=trained,run/ \
    -n "$games" --game mini --seed 2 -o games.jsonl
show rate games.jsonl --anchor random --prior 1 --plot ratings.png

title "How it got there: the checkpoints against each other and a random player"
show match random run/checkpoints/*.safetensors -n $(((games + 7) / 8)) --game mini --seed 3 -o curve.jsonl
show rate curve.jsonl --anchor random --prior 1 --curve curve.png

title "Pictures: $folder/ratings.png $folder/curve.png"
title "Play against it in a browser: $(printf '%q ' "$(command -v match)" human "$folder/run")--game mini -n 2 -o mine.jsonl --browser"
