#!/bin/sh
# R-NaD beside MMD on a GPU: one network from nothing, whole games, equal batches, equal minutes. Then both are rated.
#
#   bench/gpu_rnad.sh FOLDER         `small` on Barrage: MINUTES (4) each, and the games; ten minutes
#   SIZE=cpu bench/gpu_rnad.sh FOLDER     the same by `plain` on mini, without a GPU
#   SIZE=tiny bench/gpu_rnad.sh FOLDER    on nano, whether it works
#
# FOLDER gets the runs rnad and mmd, games.jsonl and rating.html. Stdout has how far both came, and their ratings.
# One learns after the other, so that each has the whole GPU: learner and self-play by turns. Both have the presets
# of their algorithm for this network, but BATCH (64) games a step, and publish every step. GAMES (100) of each two of
# rnad, mmd, heuristic and random. SEED (1) is of both. Needs what bench/gpu.sh needs; stratkit need not be installed.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
[ $# = 1 ] || { echo "usage: gpu_rnad.sh FOLDER" >&2; exit 2; }
say() { echo "gpu_rnad.sh: $*" >&2; }
case ${SIZE:-full} in
    full) game=barrage net=small device="--device cuda --precision bf16" minutes=4 games=100 batch=64 slots=512 ;;
    cpu) game=mini net=plain device= minutes=2 games=100 batch=8 slots=32 ;;
    tiny) game=nano net=plain device= minutes=.05 games=2 batch=8 slots=16 ;;
    *) say "SIZE is full, cpu or tiny: $SIZE"; exit 2 ;;
esac
minutes=${MINUTES:-$minutes} games=${GAMES:-$games} batch=${BATCH:-$batch} seed=${SEED:-1}
awk -v m="$minutes" 'BEGIN { exit !(m ~ /^[0-9]*[.]?[0-9]+$/ && m > 0) }' || { say "MINUTES is a number above 0: $minutes"; exit 2; }
whole() { # NAME LEAST VALUE
    case $3 in *[!0-9]* | 0?* | ??????????*) ;; *) [ "$3" -lt "$2" ] || return 0 ;; esac
    say "$1 is a whole number of at least $2: $3"
    exit 2
}
whole GAMES 1 "$games"
whole BATCH 1 "$batch"
whole SEED 0 "$seed"
[ ! -e "$1" ] || { say "$1: is there already: name another one"; exit 1; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir "$1"
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
trap 'exit 143' INT TERM HUP
if ! command -v selfplay >/dev/null; then  # a checkout alone: as bench/gpu.sh has it
    python=${PYTHON:-python3}
    [ -z "${WHEELS:-}" ] || "$python" -m pip install -q --no-index --no-deps --no-compile --target "$site" "$WHEELS"/*.whl >&2
    export PYTHONPATH="$site:$root${PYTHONPATH:+:$PYTHONPATH}" PATH="$root/bin:$PATH"
    "$python" -c 'import stratkit.engine' 2>/dev/null || (cd "$root" && "$python" setup.py -q build_ext --inplace >&2)
fi
cd "$1"

learn() { # ALGORITHM, for the MINUTES from its first step on: loading does not count
    # shellcheck disable=SC2086
    selfplay --game $game --policy "$1" --follow --seed "$seed" --slots $slots --max-ahead $((2 * slots)) -q $device |
        train - --out "$1" --algorithm "$1" --net $net --batch "$batch" --publish-every 1 --save-every 100 \
            --keep 2 --seed "$seed" -q $device &
    learner=$! clock=
    trap 'kill $learner $clock 2>/dev/null || :; exit 143' INT TERM HUP
    until [ -s "$1/metrics.jsonl" ]; do
        kill -0 $learner 2>/dev/null || { say "$1 ended before its first step"; exit 1; }
        sleep .1
    done
    sleep "$(awk "BEGIN { print 60 * $minutes }")" &
    clock=$!
    wait $clock
    kill $learner 2>/dev/null || { say "$1 ended before its time"; exit 1; }
    wait $learner || [ $? = 143 ] || { say "$1 was not saved"; exit 1; }
}
learn rnad
learn mmd
trap 'exit 143' INT TERM HUP
stratkit status rnad mmd
match rnad mmd heuristic random --game $game -n "$games" --seed "$((seed + 1000))" -q -o games.jsonl
rate games.jsonl --anchor random --prior 1 --html rating.html
