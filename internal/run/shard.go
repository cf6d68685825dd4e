package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"kir/internal/number"
)

// A Shard is one of several groups of about equal size into which the chains of a run are divided,
// so that several machines can share the run. The zero value stands for all chains.
type Shard struct {
	Index int // number of the shard, from 1
	Count int // number of shards
}

// A batchSystem names a system that runs many tasks of a job on several machines, and the
// environment variables in which the system numbers the tasks: indexVariable holds the index of the
// task, countVariable the number of tasks, and lastVariable the largest index of the job. Without
// lastVariable the indices of each job go from 0 to the number of tasks less 1, and tell nothing of
// the tasks of an earlier job. The field remedy tells the user how to set the variables.
type batchSystem struct{ name, indexVariable, lastVariable, countVariable, remedy string }

// batchSystems lists the supported batch systems.
var batchSystems = []batchSystem{
	{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT", "start the job with sbatch --array=1-16"},
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", "JOB_COMPLETIONS", "set the container's variable JOB_COMPLETIONS to the completions of the Indexed Job"},
	{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "", "AWS_BATCH_JOB_ARRAY_SIZE", "start an array job"},
}

// shardFromBatchSystem returns the shard with the number of the current task in a batch system. The
// function variable returns the value of an environment variable. The argument stored is the number
// of shards of the stored run; see [StoredShardCount].
func shardFromBatchSystem(variable func(string) string, stored int) (Shard, error) {
	var found []batchSystem
	for _, e := range batchSystems {
		if variable(e.indexVariable) != "" {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return Shard{}, errors.New("--shard auto works only in a task of Slurm, Kubernetes or AWS Batch: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and AWS_BATCH_JOB_ARRAY_INDEX is set; write K/S, the K-th of S, such as 3/16")
	}
	if len(found) > 1 {
		return Shard{}, fmt.Errorf("--shard auto is not clear: both %s and %s are set; write K/S, the K-th of S, such as 3/16", found[0].indexVariable, found[1].indexVariable)
	}
	e := found[0]
	value := func(name string) (int, error) {
		n, err := strconv.Atoi(variable(name))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("--shard auto of %s: %s is %q, and must be a number: %s, or write K/S, such as 3/16", e.name, name, variable(name), e.remedy)
		}
		return n, nil
	}
	index, err := value(e.indexVariable)
	if err != nil {
		return Shard{}, err
	}
	count, err := value(e.countVariable)
	if err != nil {
		return Shard{}, err
	}
	if e.lastVariable == "" {
		s := Shard{index + 1, count}
		if count < 1 || s.check() != nil {
			return Shard{}, fmt.Errorf("--shard auto of %s: %s is %d, from 0 on, and %s is %d", e.name, e.indexVariable, index, e.countVariable, count)
		}
		return s, nil
	}
	last, err := value(e.lastVariable)
	if err != nil {
		return Shard{}, err
	}
	return shardOfArray(index, last, count, stored)
}

// shardOfArray returns the shard of a task of a Slurm array. The number of the shard is the index of
// the task, also in an array of some tasks that a user starts again, such as sbatch --array=3. So
// the number of shards is that of the stored run. If it is 0, the array must have a task for each
// shard: last, the largest index of the array, is then count, the number of its tasks.
func shardOfArray(index, last, count, stored int) (Shard, error) {
	switch {
	case index == 0:
		return Shard{}, errors.New("--shard auto of Slurm: shards are numbered from 1, and the task is 0: start the job with sbatch --array=1-16, or write K/S, such as 1/16")
	case stored == 0 && last != count:
		return Shard{}, fmt.Errorf("--shard auto of Slurm: the array has %s up to index %d, and the run has stored nothing that tells the number of shards: start the job with sbatch --array=1-16, without gaps or a step, or write K/S, such as %d/16", number.CountWithNoun(count, "task"), last, index)
	case stored == 0:
		stored = count
	case last > stored:
		return Shard{}, fmt.Errorf("--shard auto of Slurm: the array goes to index %d, and the run has %s: start the job with indices up to %d, or write K/S, such as $SLURM_ARRAY_TASK_ID/%d, to divide the chains anew", last, number.CountWithNoun(stored, "shard"), stored, last)
	}
	s := Shard{index, stored}
	if s.check() != nil {
		return Shard{}, fmt.Errorf("--shard auto of Slurm: SLURM_ARRAY_TASK_ID is %d and SLURM_ARRAY_TASK_COUNT is %d", index, count)
	}
	return s, nil
}

// StoredShardCount returns the number of shards of the run in a store. It is 0 if the store has no
// run, or if no shard of the run has stored anything.
func StoredShardCount(ctx context.Context, store Store) (int, error) {
	m, err := readManifest(ctx, store)
	if errors.As(err, new(*NotRunError)) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	status, err := readStatus(ctx, store, m)
	if err != nil {
		return 0, err
	}
	return status.shardCount(), nil
}

// ParseShard parses a shard such as "3/16", the third of 16. For "auto" it takes the shard from the
// environment variables of Slurm, Kubernetes or AWS Batch. The argument stored is the number of
// shards of the stored run; see [StoredShardCount].
func ParseShard(text string, stored int) (Shard, error) {
	if text == "auto" {
		return shardFromBatchSystem(os.Getenv, stored)
	}
	index, count, ok := strings.Cut(text, "/")
	k, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	s := Shard{k, n}
	if !ok || err != nil || err2 != nil || n < 1 || s.check() != nil {
		return Shard{}, fmt.Errorf("%q is no shard: write K/S, the K-th of S, such as 3/16", text)
	}
	return s, nil
}

func (s Shard) String() string {
	if s.Count == 0 {
		return "all chains"
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

func (s Shard) check() error {
	if s == (Shard{}) || 1 <= s.Index && s.Index <= s.Count {
		return nil
	}
	return fmt.Errorf("there is no shard %d of %d", s.Index, s.Count)
}

// Chains returns the range of chains in the shard: the number of its first chain, and the number
// after its last chain. The parameter chains is the number of chains of the run. The sizes of
// shards differ by at most one chain.
func (s Shard) Chains(chains int) (from, to int) {
	if s.Count == 0 {
		return 0, chains
	}
	return (s.Index - 1) * chains / s.Count, s.Index * chains / s.Count
}

// hasChains reports whether the shard contains any chain, for a run with the given number of
// chains.
func (s Shard) hasChains(chains int) bool {
	from, to := s.Chains(chains)
	return from < to
}
