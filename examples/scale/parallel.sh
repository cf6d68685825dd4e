#!/usr/bin/env bash
# The tasks of a run, on the cores of this machine or on those that GNU parallel knows:
#
#   kir sample problem.yaml -o /shared/run --chains 64 --tasks
#   parallel.sh /shared/run [--jobs 8] [--sshloginfile nodes]
#   kir merge /shared/run
#
# What follows RUN goes to parallel. A task that fails is tried three times; after that
# the loop ends, and the same command goes on.
set -euo pipefail
run=$1
shift
while true; do
  tasks=$(kir tasks "$run" --workers 1)
  [ -n "$tasks" ] || break
  parallel --retries 3 --halt soon,fail=1 "$@" <<<"$tasks"
done
