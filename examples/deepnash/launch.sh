#!/bin/sh
# DeepNash's loop on one machine: a learner by torchrun, and processes of self-play that follow it.
#   launch.sh FOLDER [OPTION OF TRAIN...]      such as  launch.sh big --config paper.toml --device cuda --steps 7210000
# FOLDER gets run/, games/ and logs. Started again it goes on. A writer or a rank that dies is started
# again; a learner that dies three times without a new checkpoint ends all. The environment says:
#   GAME      classic     the game
#   RANKS     1           of the learner, one a GPU
#   WRITERS   2           processes of self-play
#   AHEAD     3072        games that may be played and waiting, of all writers together
#   KEEP      10          checkpoints that are kept, beside those of every 10,000 steps
#   SELFPLAY              further options of selfplay, such as --device cuda --max-actions 3600
case ${1:-} in '' | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
folder=$1 game=${GAME:-classic} ranks=${RANKS:-1} writers=${WRITERS:-2} ahead=${AHEAD:-3072}
shift
# A writer counts its own games and what waits in the folder, not what others play. So each plays at
# most `slots`, and its bound leaves room for those of all others.
slots=$((ahead / (2 * writers)))
[ "$slots" -ge 1 ] || { echo "launch.sh: AHEAD is less than two games a writer: $ahead" >&2; exit 2; }
mkdir -p "$folder/games"
cd "$folder"

# Ends with the child when the script is told to end.
alone() {
    "$@" & child=$!
    trap 'kill "$child" 2>/dev/null; wait "$child"; exit 0' TERM
    wait "$child"
}
writer() {
    until alone selfplay --game "$game" --policy run --follow --slots "$slots" \
        --max-ahead $((ahead - (writers - 1) * slots)) ${SELFPLAY-} -o games/ 2>>"selfplay-$1.log"; do sleep 1; done
}
newest() { find run/checkpoints -name '*.safetensors' 2>/dev/null | sort | tail -n 1; }

pids=
trap 'kill $pids 2>/dev/null || :; wait' EXIT
trap 'exit 143' TERM
for k in $(seq "$writers"); do writer "$k" & pids="$pids $!"; done

failed=0
while :; do
    before=$(newest)
    torchrun --standalone --nproc-per-node="$ranks" --no-python train games/ --consume --keep "${KEEP:-10}" --out run \
        --game "$game" ${before:+--resume} "$@" 2>>learner.log && exit 0
    [ "$(newest)" = "$before" ] && failed=$((failed + 1)) || failed=0
    [ "$failed" -lt 3 ] || break
    sleep 1
done
echo "launch.sh: the learner ended three times without a new checkpoint; $folder/learner.log says why" >&2
tail -n 5 learner.log >&2
exit 1
