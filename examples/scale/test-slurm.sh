#!/usr/bin/env bash
# slurm.sh for real: a Slurm of one node, from Debian's packages slurmctld, slurmd,
# slurm-client and munge, an array of four tasks, of which one is stopped in order, one
# is queued again by force and one is killed; then the draws beside those of one process.
# It is run as root, leaves the machine's own Slurm alone and everything in a temporary
# directory.
#
#   examples/scale/test-slurm.sh [PROBLEM [KIR]]
set -euo pipefail
cd "$(dirname "$0")/../.."
problem=$(realpath "${1:-examples/cocktails/problem.yaml}")
work=$(mktemp -d)
chmod 755 "$work"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/munge" "$work/state" "$work/spool"
chmod 711 "$work/munge"
if [ -n "${2:-}" ]; then cp "$2" "$work/bin/kir"; else go build -o "$work/bin/kir" ./cmd/kir; fi
export PATH="$work/bin:$PATH" SLURM_CONF="$work/slurm.conf"

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
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=10
JobRequeue=1
SchedulerParameters=sched_interval=2,batch_sched_delay=0
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
slurmctld -D -f "$SLURM_CONF" >"$work/ctld.out" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$node" >"$work/d.out" 2>&1 &
pids+=($!)
for _ in $(seq 60); do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.5
done
sinfo || { tail -5 "$work"/*.log "$work"/*.out; exit 1; }

settings=(--chains 8 --warmup 20000 --draws 500000)
begun=$(date +%s)
job=$(cd "$work" && sbatch --parsable --array=1-4 --cpus-per-task=1 --output="$work/task-%a.log" \
  "$OLDPWD/examples/scale/slurm.sh" "$problem" "$work/run" "${settings[@]}")
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
  [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && break
  sleep 1
done
echo "the array took $(($(date +%s) - begun)) s"
scontrol -o show job "$job" | grep -o 'ArrayTaskId=[0-9]*\|JobState=[A-Z]*\|Restarts=[0-9]*\|ExitCode=[0-9:]*' | paste - - - -
tail -n 3 "$work"/task-*.log
kir status "$work/run"
kir merge "$work/run" | sed -n 1,8p
kir sample "$problem" -o "$work/one" "${settings[@]}" --quiet >/dev/null
kir draws "$work/one" | sha256sum >"$work/want"
kir draws "$work/run" | sha256sum | cmp - "$work/want"
echo "The array gave the draws of one process."

# The tasks of a run that finds its length itself: tasks are killed while arrays of them run.
auto=(--chains 16 --effort 0.2 --quiet)
kir sample "$problem" -o "$work/tasks" --tasks "${auto[@]}"
(cd "$work" && exec "$OLDPWD/examples/scale/slurm-tasks.sh" "$work/tasks") &
driver=$!
killed=0
while kill -0 "$driver" 2>/dev/null; do
  sleep 2
  if [ "$killed" -lt 16 ] && pkill -KILL -n -f "kir tasks $work/tasks --run"; then
    killed=$((killed + 1))
  fi
done
wait "$driver"
kir merge "$work/tasks" >/dev/null
kir sample "$problem" -o "$work/alone" --time none "${auto[@]}" >/dev/null
kir draws "$work/alone" | sha256sum >"$work/want"
kir draws "$work/tasks" | sha256sum | cmp - "$work/want"
echo "Arrays of tasks gave the draws of one process; $killed tasks were killed."
