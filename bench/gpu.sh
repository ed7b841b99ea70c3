#!/bin/sh
# The learner and self-play on a GPU, as one table on stdout; what it does meanwhile, on stderr.
#
# Needs Python with torch, numpy and a C compiler; nothing from the network. Where cffi, click,
# msgspec, safetensors or zstandard are missing, they are taken as wheels from the folder WHEELS.
#
# A row that fails says so on stderr, and the next one begins. No row goes on after LIMIT seconds,
# or for more than a quarter of them.
#
#   bench/gpu.sh                    everything, in 225 seconds beside what is built and loaded
#   SIZE=cpu DEVICE=cpu bench/gpu.sh     on one core, with smaller networks, in three minutes
#   SIZE=tiny DEVICE=cpu bench/gpu.sh    whether it works, in seconds
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
cd "$root"
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
if [ -n "${WHEELS:-}" ]; then
    "$python" -m pip install -q --no-index --no-deps --no-compile --target "$site" "$WHEELS"/*.whl >&2
fi
export PYTHONPATH="$site:$root${PYTHONPATH:+:$PYTHONPATH}"
"$python" -c 'import stratkit.engine' 2>/dev/null || "$python" setup.py -q build_ext --inplace >&2
"$python" bench/gpu.py --device "${DEVICE:-cuda}" --size "${SIZE:-full}" --limit "${LIMIT:-225}"
