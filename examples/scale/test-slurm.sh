#!/usr/bin/env bash
# slurm.sh and slurm-tasks.sh for real: a Slurm of one node, from Debian's packages. First
# an array of four shards, of which one is stopped in order, one is queued again by force
# and one is killed. Then the tasks of runs of 64 chains, eight at a time: all eight are
# killed, later all eight with the daemon of their node. The draws and the summaries are
# those of one process. It is run as root, leaves the machine's own Slurm alone and
# everything in a temporary directory or, by with-s3.sh, in a bucket:
#
#   apt-get install slurmctld slurmd slurm-client munge
#   examples/scale/test-slurm.sh [PROBLEM [KIR]]
#   examples/scale/with-s3.sh examples/scale/test-slurm.sh [PROBLEM [KIR]]
set -euo pipefail
cd "$(dirname "$0")/../.."
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || { echo "$0: no $program: apt-get install slurmctld slurmd slurm-client munge" >&2; exit 1; }
done
problem=$(realpath "${1:-examples/cocktails/problem.yaml}")
work=$(mktemp -d)
chmod 755 "$work"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/munge" "$work/state" "$work/spool"
chmod 711 "$work/munge"
if [ -n "${2:-}" ]; then cp "$2" "$work/bin/kir"; else go build -o "$work/bin/kir" ./cmd/kir; fi
export PATH="$work/bin:$PATH" SLURM_CONF="$work/slurm.conf" KIR="$work/bin/kir"
place() { # of a run that all nodes see
  if [ -n "${S3_ENDPOINT:-}" ]; then echo "s3://bucket/slurm/$1?endpoint=$S3_ENDPOINT&region=us-east-1"; else echo "$work/$1"; fi
}

head -c 1024 /dev/urandom >"$work/munge/key"
chmod 400 "$work/munge/key"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
  --log-file="$work/munge/log" --seed-file="$work/munge/seed" >"$work/munge.out" 2>&1 &
pids+=($!)
node=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=kir
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$((21000 + RANDOM % 1000))
SlurmdPort=$((22000 + RANDOM % 1000))
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=10
BatchStartTimeout=1
JobRequeue=1
SchedulerParameters=sched_interval=2,batch_sched_delay=0
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
slurmctld -D -f "$SLURM_CONF" >"$work/ctld.out" 2>&1 &
pids+=($!)
start_node() {
  slurmd -D -f "$SLURM_CONF" -N "$node" >>"$work/d.out" 2>&1 &
  slurmd=$!
  pids+=("$slurmd")
}
start_node
for _ in $(seq 60); do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.5
done
sinfo || { tail -5 "$work"/*.log "$work"/*.out; exit 1; }

settings=(--chains 8 --warmup 20000 --draws 500000)
begun=$(date +%s)
array() { # of shards
  (cd "$work" && exec sbatch --parsable --cpus-per-task=1 "$@" "$OLDPWD/examples/scale/slurm.sh" "$problem" "$(place run)" "${settings[@]}")
}
job=$(array --array=1-4 --output="$work/task-%a.log")
echo "job $job"

# What is running is stopped in order, queued again by force, or killed.
done_to=""
for how in stop requeue kill; do
  for _ in $(seq 120); do
    task=$(squeue -h -j "$job" -t RUNNING -o %K 2>/dev/null | grep -vx "${done_to:-none}" | head -1 || true)
    [ -n "$task" ] && break
    sleep 0.5
  done
  [ -n "$task" ] || break
  sleep 1
  echo "task $task: $how"
  case $how in
    stop) scancel --batch --signal=TERM "${job}_$task" || true ;;
    requeue) scontrol requeue "${job}_$task" || true ;;
    kill)
      for process in $(scontrol listpids "$(squeue -h -j "${job}_$task" -o %A)" | awk 'NR > 1 { print $1 }'); do
        if [ "$(cat "/proc/$process/comm" 2>/dev/null)" = kir ]; then kill -KILL "$process"; fi
      done
      sleep 3
      scontrol requeue "${job}_$task" || true
      ;;
  esac
  done_to=$task
done
for _ in $(seq 600); do
  listed=$(squeue -h -j "$job") && [ -z "$listed" ] && break # it fails if Slurm is busy
  sleep 1
done
echo "the array took $(($(date +%s) - begun)) s"
scontrol -o show job "$job" | grep -o 'ArrayTaskId=[0-9]*\|JobState=[A-Z]*\|Restarts=[0-9]*\|ExitCode=[0-9:]*' | paste - - - -
tail -n 3 "$work"/task-*.log
kir status "$(place run)"
kir merge "$(place run)" | sed -n 1,8p
kir sample "$problem" -o "$work/one" "${settings[@]}" --quiet >/dev/null
examples/scale/compare.sh "$(place run)" "$work/one"
echo "The array gave the draws and the summary of one process."
array --array=3 --wait --output="$work/again.log" >/dev/null
grep 'shard) 3/4 is done' "$work/again.log"

# named NAME prints those of the processes on standard input that run the program NAME.
named() {
  while read -r process; do
    if [ "$(cat "/proc/$process/comm" 2>/dev/null)" = "$1" ]; then echo "$process"; fi
  done
}

# kir_processes prints the processes of kir in running jobs.
kir_processes() { scontrol listpids 2>/dev/null | awk 'NR > 1 { print $1 }' | sort -u | named kir; }

# kill_workers kills the tasks of eight jobs that run at the same time. With "node" it kills
# the daemons of Slurm with them, as when the node fails; Slurm then queues the jobs again.
kill_workers() {
  local tasks=() steps=()
  while :; do
    for task in $(kir_processes); do
      if kill -STOP "$task" 2>/dev/null; then tasks+=("$task"); fi # none ends before it is killed
    done
    [ "${#tasks[@]}" -lt 8 ] || break
    for task in "${tasks[@]}"; do kill -CONT "$task"; done
    tasks=()
    kill -0 "$driver" 2>/dev/null || { echo "the run was over too soon" >&2; return 1; }
    sleep 0.2
  done
  if [ "${1:-}" = node ]; then
    mapfile -t steps < <(ps -o ppid= -p "${tasks[*]}" | tr -d ' ' | named slurmstepd)
    kill -KILL "$slurmd" "${steps[@]}"
  fi
  kill -KILL "${tasks[@]}"
  killed=$((killed + ${#tasks[@]}))
  if [ "${1:-}" = node ]; then
    sleep 15 # Slurm misses a job after the 11 seconds that it may take to start
    start_node
  fi
}

for draws in auto 20000; do
  settings=(--chains 64 --effort 0.2 --quiet)
  [ "$draws" = auto ] || settings+=(--warmup "$draws" --draws "$draws")
  run=$(place "$draws")
  kir sample "$problem" -o "$run" --tasks "${settings[@]}"
  begun=$(date +%s)
  (cd "$work" && exec "$OLDPWD/examples/scale/slurm-tasks.sh" "$run") &
  driver=$!
  pids+=("$driver")
  killed=0
  kill_workers
  sleep 10
  kill_workers node
  wait "$driver"
  echo "draws $draws: $killed tasks were killed in $(($(date +%s) - begun)) s; Slurm queued" \
    "$(grep -c 'requeue JobId.* due to node failure' "$work/slurmctld.log") again by now"
  kir merge "$run" >/dev/null
  kir sample "$problem" -o "$work/one-$draws" --time none "${settings[@]}" >/dev/null
  examples/scale/compare.sh "$run" "$work/one-$draws"
  echo "$run has the draws and the summary of one process"
done
