#!/usr/bin/env bash
# Eight shards, and the tasks of a run, against a real S3 server, with processes killed at
# random moments, those that merge included, beside one process in a directory: the draws
# and the statistics are the same. Runs are made until as many processes were killed as KILLS says, 20 if
# it says nothing. The server is that of with-s3.sh.
#
#   [KILLS=100] examples/scale/test-s3.sh [PROBLEM [KIR]]
set -euo pipefail
[ -n "${S3_ENDPOINT:-}" ] || exec "$(dirname "$0")/with-s3.sh" "$0" "$@"
cd "$(dirname "$0")/../.."
problem=${1:-examples/cocktails/problem.yaml}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kir=${2:-$work/kir}
[ -x "$kir" ] || go build -o "$kir" ./cmd/kir
compare() { KIR=$kir examples/scale/compare.sh "$@"; }
in_bucket() { echo "s3://bucket/runs/$1?endpoint=$S3_ENDPOINT&region=us-east-1"; }
settings=(--chains 16 --warmup 20000 --draws 20000 --quiet)

"$kir" sample "$problem" -o "$work/one" "${settings[@]}" >/dev/null

# strike starts a process again until it comes to its end; the first three times it is
# killed, or the second time stopped, after a while.
killed=0 stopped=0 runs=0
strike() {
  for attempt in $(seq 1 20); do
    "$@" >"$work/out" 2>"$work/error" &
    process=$!
    if [ "$attempt" -le 3 ]; then
      sleep "0.$((RANDOM % 9))"
      if [ "$attempt" = 2 ]; then kill -TERM "$process" 2>/dev/null || true; else kill -KILL "$process" 2>/dev/null || true; fi
    fi
    status=0
    wait "$process" || status=$?
    case $status in
      0) return 0 ;;
      137) killed=$((killed + 1)) ;;
      130 | 143) stopped=$((stopped + 1)) ;;
      *) cat "$work/error"; return 1 ;;
    esac
  done
  return 1
}
while [ "$killed" -lt "${KILLS:-20}" ]; do
  runs=$((runs + 1))
  at=$(in_bucket "$runs")
  for shard in 1 2 3 4 5 6 7 8; do
    strike "$kir" sample "$problem" -o "$at" --shard "$shard/8" "${settings[@]}"
  done
  strike "$kir" merge "$at" --problem "$problem"
  cp "$work/out" "$work/merged"
  "$kir" merge "$at" --problem "$problem" >"$work/again"
  cmp "$work/merged" "$work/again"
  compare "$at" "$work/one"
done
"$kir" status "$at"

# The tasks of a run that finds its length itself, two at a time, with processes killed.
auto=(--chains 8 --effort 0.2 --quiet)
"$kir" sample "$problem" -o "$work/alone" --time none "${auto[@]}" >/dev/null
tasks=$(in_bucket tasks)
"$kir" sample "$problem" -o "$tasks" --tasks "${auto[@]}" >/dev/null
listed=0
while "$kir" tasks "$tasks" --problem "$problem" --json >"$work/tasks" && grep -q '"done": false' "$work/tasks"; do
  while read -r name; do
    listed=$((listed + 1))
    if [ $((RANDOM % 3)) = 0 ]; then
      strike "$kir" tasks "$tasks" --problem "$problem" --run "$name"
    else
      "$kir" tasks "$tasks" --problem "$problem" --run "$name"
    fi
  done < <(sed -n 's/.*"name": "\(.*\)",/\1/p' "$work/tasks")
done
"$kir" merge "$tasks" --problem "$problem" >/dev/null
compare "$tasks" "$work/alone"
echo "$listed tasks in a bucket came to the draws and the statistics of one process; $killed killed, $stopped stopped by now."

# Two processes on the same chains, anew: the second to store a part of one fails.
other=$(in_bucket two)
for k in 1 2; do
  "$kir" sample "$problem" -o "$other" --shard 1/1 "${settings[@]}" >/dev/null 2>"$work/two.$k" && echo "two: $k done" || echo "two: $k: $(cat "$work/two.$k")" &
  pids+=($!)
done
wait "${pids[@]}"
"$kir" sample "$problem" -o "$other" --shard 1/1 "${settings[@]}" >/dev/null
"$kir" merge "$other" --problem "$problem" >/dev/null
compare "$other" "$work/one"
echo "$runs runs of 8 shards in a bucket gave the draws and the statistics of one process; $killed killed, $stopped stopped."
