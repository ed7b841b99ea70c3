#!/bin/sh
# What each deviation of R-NaD's defaults from the paper's text is worth, by exact NashConv at equal CPU time:
#   differences.sh GAME MINUTES SEEDS      such as  kuhn .5 1,2,3
case ${1:-} in '' | -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
here=$(dirname "$0") game=$1 minutes=$2 seeds=$3
net="--net mlp:64x64"
python3 "$here/../../bench/learning.py" "differences-$game" --game "$game" --minutes "$minutes" --seeds "$seeds" \
  --measure nashconv \
  --setting default="$net" \
  --setting rho="$net --rho 1" \
  --setting trajectory="$net --weight-by trajectory" \
  --setting policy="$net --as-written policy" \
  --setting rewards="$net --as-written rewards" \
  --setting force="$net --as-written force" \
  --setting mixture="$net --as-written mixture" \
  --setting critic="$net --as-written critic" \
  --setting all="--config $here/small.toml"
