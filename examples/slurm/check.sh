#!/usr/bin/env bash
# Runs the example on a real Slurm of one node: Debian's slurmctld, slurmd and munged, started here and
# stopped again. As root, with slurm-wlm and munge installed; the commands are on the PATH, and PYTHON
# (python3) has stratkit.
# Usage: check.sh [FOLDER]
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath -m "${1:-slurm-check}")
node=$(hostname -s)
# Only a folder that this script made is removed.
if [ -e "$folder" ] && [ ! -e "$folder/.stratkit-check" ]; then
    echo "check.sh: $folder: is there already, and is none of check.sh's: name another one" >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"/{state,spool,jobs}
touch "$folder/.stratkit-check"
pids=()

stop() {
    scancel --state=PENDING --user=root 2>/dev/null || true
    scancel --user=root 2>/dev/null || true
    for ((i = 0; i < 60; i++)); do  # slurmd ends only after its jobs, which report to slurmctld
        squeue --noheader --states=RUNNING,COMPLETING 2>/dev/null | grep -q . || break
        sleep 1
    done
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait
}
trap stop EXIT

fail() {
    echo "check.sh: $1" >&2
    tail -n 5 "$folder"/*.log "$folder"/jobs/*.log >&2
    exit 1
}

# Waits until a command succeeds, up to a time in seconds.
until_ready() {
    local what=$1 limit=$2
    shift 2
    for ((i = 0; i < limit; i++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 1
    done
    fail "$what"
}

state() { squeue --noheader --jobs="$1" --states=all --format=%T 2>/dev/null | sort -u | xargs; }
is() { [ "$(state "$1")" = "$2" ]; }

# The ports are none of Slurm's own, so that another one may be here; more CPUs are claimed than there
# may be, so that all jobs run at once.
cat >"$folder/slurm.conf" <<CONF
ClusterName=check
SlurmctldHost=$node
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldPort=26817
SlurmdPort=26818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MinJobAge=3600
KillWait=60
ReturnToService=2
NodeName=$node CPUs=8 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF=$folder/slurm.conf

if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
    install -d -o munge -g munge /run/munge
    su -s /bin/sh munge -c 'exec /usr/sbin/munged --foreground' 2>"$folder/munged.log" &
    pids+=($!)
    until_ready "munged does not answer" 30 sh -c 'munge -n | unmunge'
fi
slurmctld -D 2>"$folder/slurmctld.log" &
pids+=($!)
slurmd -D 2>"$folder/slurmd.log" &
pids+=($!)
until_ready "no node is idle" 60 sh -c 'sinfo --noheader --format=%T | grep -q idle'

cd "$folder/jobs"
export GAME=nano RANKS=2 GAMES=4 TRAIN="--steps 6 --save-every 2 --net plain --batch 8 --seed 1"
read -r _ learner _ actors _ rating < <("$here/submit.sh" | tr -d ,)
until_ready "nothing is learned" 600 sh -c '[ $(wc -l <run/metrics.jsonl) -ge 2 ]'
until_ready "the learner does not end" 600 is "$learner" COMPLETED
[ "$(wc -l <run/metrics.jsonl)" = 6 ] || fail "the run has not 6 steps"
until_ready "self-play goes on without a learner" 120 is "$actors" CANCELLED
[ "$(ls selfplay-?.log | wc -l)" = 4 ] || fail "there are not 4 tasks of self-play"
is "$rating" PENDING || fail "the rating does not wait for the night"

# The night comes at once; the next one is waited for.
scontrol update "JobId=$rating" StartTime=now
until_ready "the rating does not end" 600 is "$rating" COMPLETED
grep -q 'run@6' rating.html || fail "the page does not rate the run"
next=$(squeue --noheader --name=stratkit-rating --states=PENDING --format=%i)
[ -n "$next" ] && [ "$next" != "$rating" ] || fail "no rating is submitted for the next night"

# A learner that is stopped saves, and goes on where it was: with new self-play, as after a pre-emption.
export TRAIN="--steps 100000 --save-every 100000"
read -r _ learner _ actors _ rating < <("$here/submit.sh" | tr -d ,)
[ "$rating" = "$next" ] || fail "a second series of ratings begins"
until_ready "the run does not go on" 600 sh -c '[ $(wc -l <run/metrics.jsonl) -ge 8 ]'
scancel --signal=TERM --batch "$learner"
until_ready "the learner does not stop" 120 sh -c "! squeue --noheader --jobs=$learner --states=RUNNING,COMPLETING | grep -q ."
last=$(basename "$(ls run/checkpoints/* | tail -n 1)" .safetensors)
[ "${last#step-}" -ge 8 ] || fail "the last checkpoint is $last"
echo "check.sh: $(slurmctld -V): 4 tasks of self-play, 2 ranks, 6 steps, a rating, and a stop at $last: all as it should be"
