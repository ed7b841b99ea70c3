#!/bin/sh
# Submits all jobs, from the folder that will hold RUN, episodes and logs; all nodes must share it.
# The environment says more: GAME, RUN, EPISODES, RANKS, TRAIN, GAMES, AT, PYTHON.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export EXAMPLES="${here%/*}"  # for a job, which Slurm runs from a copy elsewhere
learner=$(sbatch --parsable "$here/learner.sbatch")
actors=$(sbatch --parsable "$here/selfplay.sbatch")
# Followers would wait for ever for a learner that has done its steps.
sbatch --quiet --job-name=end --dependency="afterany:$learner" --output=/dev/null --wrap "scancel $actors"
rating=$(squeue --me --noheader --name=stratkit-rating --format=%i | head -n 1)  # one is enough
[ -n "$rating" ] || rating=$(sbatch --parsable --begin="${AT:-03:00}" "$here/rating.sbatch")
echo "learner $learner, self-play $actors, rating $rating"
