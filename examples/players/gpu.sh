#!/bin/sh
# Learns on a machine with a GPU, much as the network classic did:
#
#   gpu.sh RUN GAME PLAYER NET
#
# RUN begins as PLAYER plays, with a network as large as NET. One that is there already goes on with
# its own settings: give POOL again, and in TRAIN only what is to change.
# The learner and one self-play compute on the GPU. That self-play meets itself, in many games at a
# time, since a GPU takes as long for few. On each of the other cores a self-play meets the POOL, in
# float32: there bfloat16 takes six times as long.
# With BOOK, a file of setups, another self-play on the GPU begins from these, for play that
# knows setups unlike its own: 1024 games at a time.
# Ctrl-C ends all of it, and saves RUN. What else is wanted of train goes into TRAIN, and of every
# selfplay into PLAY, such as --max-no-attack 60 beside a POOL that waits. CORES (all but
# 3), SLOTS, the games on the GPU (2048), and DEVICE (cuda) are for other machines. The commands that
# made it are in bench/learning-classic.md, those of barrage in bench/learning-barrage.md.
#
# Setups of barrage and classic have half their temperature, by export.py. Whoever
# goes on from one gives them back what they had, and halves it again in what became of it:
#
#   export.py classic begin.safetensors online -32 2
#   gpu.sh run classic ./begin.safetensors fromto:64x4+mirrored
#   export.py run end.safetensors average -32 .5
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
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
trap 'exit 143' INT TERM HUP
opponents=
for one in $pool; do opponents="$opponents --opponent $one"; done

play() { # PIPE and further words
    pipe=$1
    shift
    mkfifo "$pipe"
    # shellcheck disable=SC2086
    selfplay --game "$game" --policy "$run" --follow --slice 64 --max-ahead 8192 -q ${PLAY:-} "$@" >"$pipe" &
    actors="$actors $!"
}
play "$pipes/gpu" --device "$device" --threads 3 --slots "${SLOTS:-2048}"
[ -z "${BOOK:-}" ] || play "$pipes/book" --device "$device" --slots "${SLOTS:-1024}" --setups "$BOOK"
for core in $(seq "$cores"); do
    # shellcheck disable=SC2086
    play "$pipes/$core" --slots 64 $opponents
done

how="--weights $player --net $net --algorithm mmd --batch 512 --advantage-filter .75 --warm-up 50 --lr 3e-4 --lr-power 0
    --eta .001 --eta-power 0 --eta-floor 0 --rho 1.5 --publish-every 1 --save-every 500 --keep 2"
! ls "$run"/checkpoints/*.safetensors >/dev/null 2>&1 || how=--resume
# shellcheck disable=SC2086
train "$pipes"/* --out "$run" --device "$device" --precision bf16 $how ${TRAIN:-} &
learner=$!
trap 'kill $learner 2>/dev/null || :' INT TERM HUP # it saves, whoever of us hears of it
status=0
while wait $learner || status=$?; kill -0 $learner 2>/dev/null; do status=0; done
[ $status -lt 128 ] || echo "gpu.sh: these pipes are gone; the same gpu.sh command goes on" >&2
exit $status
