#!/bin/sh
# turns.sh GAME RUN STEPS EACH OPPONENT... -- SELFPLAY_OPTION... -- TRAIN_OPTION...
#
# The learner of RUN goes on to STEPS and meets the OPPONENTs by turns, each for EACH steps; `itself` is self-play.
# An interrupted one goes on where it was. A turn begins with some seconds in which both commands start.
set -e
usage() { echo 'usage: turns.sh GAME RUN STEPS EACH OPPONENT... -- SELFPLAY_OPTION... -- TRAIN_OPTION...' >&2; exit 2; }
[ $# -ge 7 ] || usage
game=$1 run=$2 steps=$3 each=$4
shift 4
opponents= play=
while [ "${1:---}" != -- ]; do opponents="$opponents $1"; shift; done
[ $# -gt 0 ] && shift || usage
while [ "${1:---}" != -- ]; do play="$play $1"; shift; done
[ $# -gt 0 ] && shift || usage

while :; do
  for opponent in $opponents; do
    done=$(ls "$run/checkpoints" 2>/dev/null | sed -n 's/^step-0*\([0-9][0-9]*\)\.safetensors$/\1/p' | tail -n 1)
    [ -n "$done" ] || { echo "turns.sh: $run: no checkpoints" >&2; exit 1; }
    [ "$done" -lt "$steps" ] || exit 0
    next=$((done + each))
    [ "$next" -le "$steps" ] || next=$steps
    [ "$opponent" = itself ] && against= || against="--opponent $opponent"
    # shellcheck disable=SC2086 # words
    selfplay --game "$game" --policy "$run" --follow --seed "$next" $play $against |
      train - --out "$run" "$@" --steps "$next" --resume
  done
done
