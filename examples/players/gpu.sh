#!/bin/sh
# Learns on a machine with a GPU, much as classic-v5 did:
#
#   gpu.sh RUN GAME PLAYER NET
#
# RUN begins as PLAYER plays, with a network as large as NET; one that is there already goes on.
# The learner and one self-play compute on the GPU. That self-play meets itself, in many games at a
# time, since a GPU takes as long for few. On each of the other cores a self-play meets the POOL.
# Ctrl-C ends all of it, and saves RUN. What else is wanted of train goes into TRAIN. CORES (all but
# 3), SLOTS, the games on the GPU (2048), and DEVICE (cuda) are for other machines.
set -eu
[ $# = 4 ] || { echo "usage: gpu.sh RUN GAME PLAYER NET" >&2; exit 2; }
run=$1 game=$2 player=$3 net=$4
cores=${CORES:-$(env -u OMP_NUM_THREADS nproc --ignore=3)}
device=${DEVICE:-cuda}
pool=${POOL:-preset=fast,$player heuristic $player}
export OMP_NUM_THREADS=1

pipes=$(mktemp -d)
actors=
trap 'kill $actors 2>/dev/null || :; rm -rf "$pipes"' EXIT
trap : INT TERM HUP # the learner hears of it, too, and saves
opponents=
for one in $pool; do opponents="$opponents --opponent $one"; done

play() { # PIPE and further words
    pipe=$1
    shift
    mkfifo "$pipe"
    selfplay --game "$game" --policy "$run" --follow --slice 64 --precision bf16 --max-ahead 8192 -q "$@" >"$pipe" &
    actors="$actors $!"
}
play "$pipes/gpu" --device "$device" --threads 3 --slots "${SLOTS:-2048}"
for core in $(seq "$cores"); do
    # shellcheck disable=SC2086
    play "$pipes/$core" --slots 64 $opponents
done

begin="--weights $player"
! ls "$run"/checkpoints/*.safetensors >/dev/null 2>&1 || begin=--resume
# shellcheck disable=SC2086
train "$pipes"/* --out "$run" --net "$net" --device "$device" --precision bf16 --algorithm mmd \
    --batch 512 --advantage-filter .75 --warm-up 50 --lr 3e-4 --lr-power 0 --eta .001 --eta-power 0 --eta-floor 0 \
    --rho 1.5 --publish-every 1 --save-every 500 --keep 2 $begin ${TRAIN:-}
