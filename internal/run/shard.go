package run

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Shard is one of several groups of about equal size into which the chains of a run are divided,
// so that several machines can share the run. The zero value stands for all chains.
type Shard struct {
	Index int // number of the shard, from 1
	Count int // number of shards
}

// A batchSystem names a system that runs many tasks of a job on several machines, and the
// environment variables in which the system numbers the tasks: indexVariable holds the index of the
// task, firstVariable the first index of the job, and countVariable the number of tasks. The field
// remedy tells the user how to set the variables.
type batchSystem struct{ name, indexVariable, firstVariable, countVariable, remedy string }

// batchSystems lists the supported batch systems.
var batchSystems = []batchSystem{
	{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "start the job with sbatch --array=1-16"},
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", "JOB_COMPLETIONS", "set the container's variable JOB_COMPLETIONS to the completions of the Indexed Job"},
	{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "", "AWS_BATCH_JOB_ARRAY_SIZE", "start an array job"},
}

// shardFromBatchSystem returns the shard with the number of the current task in a batch system. The
// function variable returns the value of an environment variable.
func shardFromBatchSystem(variable func(string) string) (Shard, error) {
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
	number := func(name string) (int, error) {
		n, err := strconv.Atoi(variable(name))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("--shard auto of %s: %s is %q, and must be a number: %s, or write K/S, such as 3/16", e.name, name, variable(name), e.remedy)
		}
		return n, nil
	}
	index, err := number(e.indexVariable)
	if err != nil {
		return Shard{}, err
	}
	count, err := number(e.countVariable)
	if err != nil {
		return Shard{}, err
	}
	first := 0
	if e.firstVariable != "" {
		if first, err = number(e.firstVariable); err != nil {
			return Shard{}, err
		}
		// With gaps or a step, an index does not give the task's place among the others.
		const last = "SLURM_ARRAY_TASK_MAX"
		if to, err := number(last); err != nil {
			return Shard{}, err
		} else if to-first+1 != count {
			return Shard{}, fmt.Errorf("--shard auto of Slurm: the array goes from %d to %d and has %d tasks: %s, without gaps or a step", first, to, count, e.remedy)
		}
	}
	s := Shard{index - first + 1, count}
	if count < 1 || s.check() != nil {
		return Shard{}, fmt.Errorf("--shard auto of %s: %s is %d, from %d on, and %s is %d", e.name, e.indexVariable, index, first, e.countVariable, count)
	}
	return s, nil
}

// ParseShard parses a shard such as "3/16", the third of 16. For "auto" it takes the shard from the
// environment variables of Slurm, Kubernetes or AWS Batch.
func ParseShard(text string) (Shard, error) {
	if text == "auto" {
		return shardFromBatchSystem(os.Getenv)
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
