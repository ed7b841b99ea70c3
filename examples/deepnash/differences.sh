#!/bin/sh
# What each deviation of R-NaD's defaults from the paper's text is worth, at equal CPU time: by exact NashConv, on boards by Elo:
#   differences.sh GAME MINUTES SEEDS [SETTING...]      such as  leduc .5 1,2,3
# Started again it goes on. A setting whose loss explodes is named and left out of the table.
case ${1:-} in '' | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
here=$(dirname "$0") game=$1 minutes=$2 seeds=$3
shift 3
case $game in
    kuhn | leduc | liars_dice*) net="--net mlp:64x64 --batch 256" behind= measure="--measure nashconv" known= ;;
    *) net="--net fromto" behind=" | --slots 32 --max-ahead 64" measure="--pool heuristic" known="trace floor" ;;
esac
[ $# -gt 0 ] || set -- default rho trajectory policy critic force mixture rewards all $known

# learning.py with the settings of these names.
compare() {
    named=$*
    set -- "differences-$game" --game "$game" --minutes "$minutes" --seeds "$seeds" $measure
    for name in $named; do
        case $name in
            default) more= ;;
            rho) more="--rho 1" ;;
            trajectory) more="--weight-by trajectory" ;;
            all) more="--rho 1 --weight-by trajectory --grad-value 10000 --as-written policy,rewards,force,mixture,critic" ;;
            trace) more="--policy-c 1" ;;
            floor) more="--mu-floor 0" ;;
            *) more="--as-written $name" ;;
        esac
        set -- "$@" --setting "$name=$net $more$behind"
    done
    python3 "$here/../../bench/learning.py" "$@"
}

whole=
for name; do
    if compare "$name" >/dev/null; then whole="$whole $name"; else echo "differences.sh: $name ended before its time" >&2; fi
done
[ -z "$whole" ] || compare $whole
