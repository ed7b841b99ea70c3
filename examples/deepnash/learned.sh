#!/bin/sh
# What has it learned? Figures 5 and 6 of the DeepNash paper as numbers, for any checkpoint:
#
#   learned.sh POLICY GAME PAGE.html
#
# POLICY, a checkpoint, a RUN, or a player that comes with stratkit (what selfplay --policy takes),
# plays GAMES (1000) of Stratego against itself, from SEED (1). PAGE says where its flag stands, how often it bluffs, and how often it lets a
# scout go by. Each number has its interval, and links to positions. The counts are printed, too.
# What else is wanted of selfplay goes into PLAY, such as "--device cuda --slots 1024".
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
[ $# = 3 ] || { echo "usage: learned.sh POLICY GAME PAGE.html" >&2; exit 2; }
games=${GAMES:-1000}
case $games in *[!0-9]* | 0*) echo "learned.sh: GAMES is a whole number above 0: $games" >&2; exit 2 ;; esac
[ "$3" != - ] || { echo "learned.sh: PAGE is a file, not -" >&2; exit 2; }
[ ! -e "$3" ] || { echo "learned.sh: $3: exists already" >&2; exit 1; }
[ -w "$(dirname "$3")" ] || { echo "learned.sh: $3: cannot be written" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' INT TERM HUP
selfplay --policy random --game "$2" -n 1 --seed 1 -q -o "$folder/one.eps"
fenfs stats - <"$folder/one.eps" >/dev/null  # refuses what is no game of Stratego, before many are played
# shellcheck disable=SC2086
selfplay --policy "$1" --game "$2" -n "$games" --seed "${SEED:-1}" -q ${PLAY:-} -o "$folder/selfplay.eps"
fenfs stats --attacks --html "$3" --title "What has $(basename "$1") learned?" - <"$folder/selfplay.eps"
