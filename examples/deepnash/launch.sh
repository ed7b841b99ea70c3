#!/bin/sh
# DeepNash's loop on one machine or several: a learner by torchrun, and self-play that follows it.
#
#   launch.sh FOLDER [OPTION OF TRAIN...]
#
# By itself it is small: 20 steps of nano on CPUs, to see it work. The paper's size, Table 3:
#
#   SIZE=paper launch.sh big                                    on all GPUs of this machine
#   SIZE=paper NODES=8 NODE=3 HOST=first:29500 launch.sh big    on each of eight; all share FOLDER
#
# FOLDER gets run/, games/ and logs. The same command goes on with it. A writer or a learner that ends
# too early is started again, and a line says why. A learner that does so three times without a new
# checkpoint ends all, and so do options that train or selfplay refuses. Ctrl-C and SIGTERM save, and end all.
# Episodes are deleted when a checkpoint covers what was learned from them. Of checkpoints there are
# the newest 3, and one for each 100,000 steps. OPTIONs of train come last, and so replace these.
#
#   SIZE      small   or paper
#   GPUS      all     of this machine, in size small 0: the device is cuda if there are any
#   RANKS     GPUS    of the learner here, or 2
#   WRITERS   GPUS    processes of self-play here, or 2; each on the next GPU behind the ranks', in turn
#   AHEAD             games that may be played or wait, of all writers (default: 8 publications)
#   SELFPLAY          further options of selfplay, such as --slots 2048
#   NODES     1       machines, which have as many writers each
#   NODE      0       number of this one
#   HOST              name and free port of the first one
case ${1:-} in '' | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
say() { echo "launch.sh: $*" >&2; }
refuse() { say "$*"; exit 2; }
whole() { # NAME LEAST VALUE
    case $3 in '' | *[!0-9]* | 0?* | ??????????*) ;; *) [ "$3" -lt "$2" ] || return 0 ;; esac
    refuse "$1 is a whole number of at least $2: $3"
}
folder=$1 size=${SIZE:-small} nodes=${NODES:-1} node=${NODE:-0}
shift
case $size in
    small)
        game=nano gpus=${GPUS:-0} timeout=600
        learn="--net plain --batch 8 --steps 20 --save-every 5" play=
        ;;
    paper)
        game=classic gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || :)} timeout=3600
        config=$(cd "$(dirname "$0")" && pwd)/paper.toml
        learn="--config $config --steps 7210000 --publish-every 10" play="--max-actions 3600"
        ;;
    *) refuse "SIZE is small or paper: $size" ;;
esac
whole GPUS 0 "$gpus"
if [ "$size$gpus" = paper0 ] && [ -z "${RANKS-}" ]; then
    refuse "no GPU was found: RANKS says how many ranks are to compute on CPUs"
fi
if [ "$gpus" -gt 0 ]; then device="--device cuda"; else device=; fi
here=$((gpus > 0 ? gpus : 2))
ranks=${RANKS:-$here} writers=${WRITERS:-$here}
whole RANKS 1 "$ranks"
whole WRITERS 1 "$writers"
whole NODES 1 "$nodes"
whole NODE 0 "$node"
whole AHEAD 1 "${AHEAD:-1}"
[ "$node" -lt "$nodes" ] || refuse "NODE is below NODES, which is $nodes: $node"
if [ "$nodes" -gt 1 ]; then
    [ -n "${HOST-}" ] || refuse "HOST is missing: name and free port of the first machine"
    together="--nnodes=$nodes --rdzv-backend=c10d --rdzv-endpoint=$HOST"
else
    together=--standalone
fi
mkdir -p "$folder/games"
cd "$folder"

since() { tail -c +"$(($2 + 1))" "$1"; } # what a log has got
# The same without what ranks say that another one's end has ended.
own() { since "$1" "$2" | grep -vE 'another rank has gone|^(train|selfplay): terminated$'; }
signals() { since "$1" "$2" | grep -o 'Signal [0-9]* ([A-Z]*) received by PID [0-9]*'; }
# STATUS LOG START: the command's own last words, or the signal that ended it or a rank. torchrun ends the other ranks by
# SIGTERM, and may tell of these first.
why() {
    if [ "$1" -gt 128 ]; then echo "signal $(kill -l "$1")"; return; fi
    own "$2" "$3" | grep -E '^(train|selfplay): ' | tail -n 1 | grep . ||
        signals "$2" "$3" | grep -vm 1 SIGTERM || signals "$2" "$3" | grep -m 1 . ||
        echo "status $1; see $2"
}
# LOG START: the status of the rank that ended first, as torchrun tells it; below 0 a signal.
exit_of() { since "$1" "$2" | sed -n 's/.* failed (exitcode: \(-*[0-9]*\)).*/\1/p' | head -n 1; }
# LOG START: whether train's own words were the last ones, and no traceback's.
refused() { own "$1" "$2" | sed '/ failed (exitcode: /,$d' | grep -v '^[WI][0-9]' | tail -n 1 | grep -q '^train: '; }
length() { if [ -e "$1" ]; then wc -c <"$1"; else echo 0; fi; }

writer() { # K, for ever
    log=selfplay-$1.log pause=1 child=
    trap 'kill $child 2>/dev/null; wait; exit' TERM
    while :; do
        before=$(length "$log") began=$(date +%s) status=0
        # shellcheck disable=SC2086
        selfplay --game "$game" --policy run --follow --part "$1/$((nodes * writers))" ${AHEAD:+--max-ahead $AHEAD} \
            $device $play ${SELFPLAY-} -o games/ 2>>"$log" &
        child=$!
        wait $child 2>/dev/null || status=$?
        if [ $status = 2 ]; then # words that it does not know. All writers have the same: the first one ends all
            [ "$1" != $((node * writers + 1)) ] || { say "$(why 2 "$log" "$before")"; kill -USR1 $$; }
            exit
        fi
        say "writer $1 ended and begins again in $pause s: $(why $status "$log" "$before")"
        sleep $pause &
        child=$!
        wait $child
        if [ $(($(date +%s) - began)) -lt 300 ]; then pause=$((pause < 64 ? 2 * pause : 64)); else pause=1; fi
    done
}

newest() { find run/checkpoints -name 'step-*.safetensors' 2>/dev/null | sort | tail -n 1; }

pids="" learner="" ending="" llog=learner-$node.log
trap 'kill $pids 2>/dev/null || :; wait' EXIT
trap 'ending=130; kill $learner 2>/dev/null || :' INT
trap 'ending=143; kill $learner 2>/dev/null || :' TERM HUP
trap 'ending=2; kill $learner 2>/dev/null || :' USR1
for k in $(seq "$writers"); do
    [ "$gpus" = 0 ] || export CUDA_VISIBLE_DEVICES=$(((ranks + k - 1) % gpus))
    writer $((node * writers + k)) &
    pids="$pids $!"
done
unset CUDA_VISIBLE_DEVICES

failed=0
while [ -z "$ending" ]; do
    before=$(newest) start=$(length "$llog") status=0
    # shellcheck disable=SC2086
    torchrun $together --nproc-per-node="$ranks" --no-python train games/ --out run --game "$game" --consume --keep 3 \
        --milestone 100000 --timeout $timeout $device $learn ${before:+--resume} "$@" 2>>"$llog" &
    learner=$!
    while wait $learner 2>/dev/null || status=$?; kill -0 $learner 2>/dev/null; do status=0; done
    [ $status != 0 ] || exit 0
    [ -z "$ending" ] || break
    reached=$(newest) told=$(why $status "$llog" "$start") code=$(exit_of "$llog" "$start")
    # What train refuses, it would refuse the next time: options at any time, and what else there is before it has learned.
    case ${reached:+on}$code in 1 | 2 | on2) ! refused "$llog" "$start" || { say "$told"; exit "$code"; } ;; esac
    if [ "$reached" = "$before" ]; then failed=$((failed + 1)); else failed=0; fi
    if [ $failed = 3 ]; then
        say "the learner ended three times without a new checkpoint: $told"
        exit 1
    fi
    say "the learner ended and goes on from ${reached:-the beginning}: $told"
    sleep 1
done
[ $ending = 2 ] || say "ended by a signal; the same command goes on"
exit "$ending"
