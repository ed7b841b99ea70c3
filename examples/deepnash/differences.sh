#!/bin/sh
# What each deviation of R-NaD's defaults from the paper's text is worth, at equal CPU time: by exact NashConv, on boards by Elo:
#   differences.sh GAME MINUTES SEEDS [SETTING...]      such as  leduc .5 1,2,3
# Started again it goes on. A setting whose loss explodes is named and left out of the table; if none is left, the status is 1.
case ${1:-} in '' | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
say() { echo "differences.sh: $*" >&2; }
[ $# -ge 3 ] || { echo "usage: differences.sh GAME MINUTES SEEDS [SETTING...]" >&2; exit 2; }
here=$(dirname "$0") game=$1 minutes=$2 seeds=$3
shift 3
case $game in
    kuhn | leduc | liars_dice*) net="--net mlp:64x64 --batch 256" behind= measure="--measure nashconv" known= ;;
    *) net="--net fromto" behind=" | --slots 32 --max-ahead 64" measure="--pool heuristic" known="trace floor" ;;
esac
[ $# -gt 0 ] || set -- default rho trajectory policy critic force mixture rewards all $known

options() { # of train, for a setting
    case $1 in
        default) ;;
        rho) echo --rho 1 ;;
        trajectory) echo --weight-by trajectory ;;
        all) echo --rho 1 --weight-by trajectory --grad-value 10000 --as-written policy,rewards,force,mixture,critic ;;
        trace) echo --policy-c 1 ;;
        floor) echo --mu-floor 0 ;;
        policy | critic | force | mixture | rewards) echo --as-written "$1" ;;
        *) say "SETTING is default, rho, trajectory, policy, critic, force, mixture, rewards, all, trace or floor: $1"; exit 2 ;;
    esac
}
for name; do options "$name" >/dev/null; done

# learning.py with the settings of these names.
compare() {
    named=$*
    set -- "differences-$game" --game "$game" --minutes "$minutes" --seeds "$seeds" $measure
    for name in $named; do
        set -- "$@" --setting "$name=$net $(options "$name")$behind"
    done
    python3 "$here/../../bench/learning.py" "$@"
}

whole=
for name; do
    status=0
    compare "$name" >/dev/null || status=$?
    case $status in
        0) whole="$whole $name" ;;
        2) exit 2 ;; # GAME, MINUTES or SEEDS are wrong, and so for each setting
        *) say "$name ended before its time" ;;
    esac
done
[ -n "$whole" ] || exit 1
compare $whole
