#!/usr/bin/env bash
# The chains of any problem as an array of Slurm tasks, several chains a task:
#
#   sbatch --array=1-16 slurm.sh problem.yaml /shared/run --chains 64 --draws 100000
#   sbatch --dependency=afterok:JOB --wrap 'kir merge /shared/run'
#
# RUN is a directory that all nodes see, or s3://bucket/prefix. What follows it goes to
# kir sample. A task that is preempted, or runs out of time, stores its draws and is
# queued again; one that is killed makes again what it had not stored. Either goes on
# where it was. To repeat task 3 alone, give the same command with --array=3.
#SBATCH --job-name=kir
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
set -uo pipefail

problem=$1 run=$2
shift 2
kir sample "$problem" -o "$run" --shard auto \
  --workers "${SLURM_CPUS_PER_TASK:-1}" --quiet "$@" &
task=$!
trap 'kill -TERM "$task"' TERM
status=0
wait "$task" || status=$?
trap - TERM
if kill -0 "$task" 2>/dev/null; then # the signal ended the wait, and not the task
  status=0
  wait "$task" || status=$?
fi
if [ "$status" = 130 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" || true # it may be queued already
fi
exit "$status"
