#!/usr/bin/env bash
# The tasks of a run as array jobs of Slurm, one array after another until none is left:
#
#   kir sample problem.yaml -o /shared/run --chains 64 --tasks
#   slurm-tasks.sh /shared/run [--partition=long] [--cpus-per-task=2]
#   kir merge /shared/run
#
# RUN is a directory that all nodes see, or s3://bucket/prefix. What follows it goes to
# sbatch. A node that fails, or a task that is preempted, loses at most 20 seconds of
# work: the task is listed again. The driver may be ended and started again at any time.
set -euo pipefail
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then # in a job: one line of the list
  line=$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$1")
  eval "exec $line --workers ${SLURM_CPUS_PER_TASK:-1}"
fi
run=$1
shift
lists=$(mktemp -d -p "${KIR_LISTS:-$PWD}" kir-tasks.XXXXXX) # which the nodes read, a file for each array
trap 'rm -rf "$lists"' EXIT
most=1000 # tasks of an array
array=0
failed=0
while true; do
  list=$lists/$((array += 1))
  kir tasks "$run" >"$list.all"
  head -n "$most" "$list.all" >"$list"
  [ -s "$list" ] || break
  if sbatch --wait --quiet --requeue --array="1-$(wc -l <"$list")" --output=/dev/null "$@" "$0" "$list"; then
    failed=0
  elif failed=$((failed + 1)) && [ "$failed" -ge 10 ]; then
    echo "$0: ten arrays in a row had tasks that failed; kir status $run tells how far the run is" >&2
    exit 1
  fi
done
