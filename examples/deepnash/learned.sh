#!/bin/sh
# What has it learned? Figures 5 and 6 of the DeepNash paper as numbers, for any checkpoint:
#
#   learned.sh PLAYER GAME PAGE.html
#
# PLAYER, a checkpoint, a RUN, or a player that comes with stratkit, plays GAMES (1000) against
# itself, from SEED (1). PAGE says where its flag stands, how often it bluffs, and how often it lets a
# scout go by. Each number has its interval, and links to positions. The counts are printed, too.
# What else is wanted of selfplay goes into PLAY, such as "--device cuda --slots 1024".
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
[ $# = 3 ] || { echo "usage: learned.sh PLAYER GAME PAGE.html" >&2; exit 2; }
[ ! -e "$3" ] || { echo "learned.sh: $3: exists already" >&2; exit 1; }
[ -w "$(dirname "$3")" ] || { echo "learned.sh: $3: cannot be written" >&2; exit 1; }
games=$(mktemp -d)
trap 'rm -rf "$games"' EXIT
trap 'exit 143' INT TERM HUP
# shellcheck disable=SC2086
selfplay --policy "$1" --game "$2" -n "${GAMES:-1000}" --seed "${SEED:-1}" -q ${PLAY:-} -o "$games/selfplay.eps"
fenfs stats --attacks --html "$3" --title "What has $(basename "$1") learned?" - <"$games/selfplay.eps"
