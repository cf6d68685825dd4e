package run

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Shard is one of several that the chains of a run are divided into: Index of
// Count, counted from 1. The zero value is all of them.
type Shard struct{ Index, Count int }

// An engine names the environment variables in which a batch system numbers the tasks of a job: the
// task's index, the first index, and their count.
type engine struct{ name, index, first, count, need string }

var engines = []engine{
	{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "start the job with sbatch --array=1-16"},
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", "JOB_COMPLETIONS", "set the container's variable JOB_COMPLETIONS to the completions of the Indexed Job"},
	{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "", "AWS_BATCH_JOB_ARRAY_SIZE", "start an array job"},
}

// engineShard returns the shard of a task from the variables of its batch system.
func engineShard(variable func(string) string) (Shard, error) {
	var found []engine
	for _, e := range engines {
		if variable(e.index) != "" {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return Shard{}, errors.New("--shard auto works only in a task of Slurm, Kubernetes or AWS Batch: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and AWS_BATCH_JOB_ARRAY_INDEX is set; write K/S, the K-th of S, such as 3/16")
	}
	if len(found) > 1 {
		return Shard{}, fmt.Errorf("--shard auto is not clear: both %s and %s are set; write K/S, the K-th of S, such as 3/16", found[0].index, found[1].index)
	}
	e := found[0]
	number := func(name string) (int, error) {
		n, err := strconv.Atoi(variable(name))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("--shard auto of %s: %s is %q, and must be a number: %s, or write K/S, such as 3/16", e.name, name, variable(name), e.need)
		}
		return n, nil
	}
	index, err := number(e.index)
	if err != nil {
		return Shard{}, err
	}
	count, err := number(e.count)
	if err != nil {
		return Shard{}, err
	}
	first := 0
	if e.first != "" {
		if first, err = number(e.first); err != nil {
			return Shard{}, err
		}
		// With gaps or a step, an index does not give the task's place among the others.
		const last = "SLURM_ARRAY_TASK_MAX"
		if to, err := number(last); err != nil {
			return Shard{}, err
		} else if to-first+1 != count {
			return Shard{}, fmt.Errorf("--shard auto of Slurm: the array goes from %d to %d and has %d tasks: %s, without gaps or a step", first, to, count, e.need)
		}
	}
	s := Shard{index - first + 1, count}
	if count < 1 || s.check() != nil {
		return Shard{}, fmt.Errorf("--shard auto of %s: %s is %d, from %d on, and %s is %d", e.name, e.index, index, first, e.count, count)
	}
	return s, nil
}

// ParseShard parses "3/16", or "auto" for the task's place by the variables of Slurm, Kubernetes or
// AWS Batch.
func ParseShard(text string) (Shard, error) {
	if text == "auto" {
		return engineShard(os.Getenv)
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

// Chains returns the first chain of the shard and the first after it. The sizes of shards differ by
// at most one chain.
func (s Shard) Chains(chains int) (from, to int) {
	if s.Count == 0 {
		return 0, chains
	}
	return (s.Index - 1) * chains / s.Count, s.Index * chains / s.Count
}

// hasChains reports whether the shard has any of the chains.
func (s Shard) hasChains(chains int) bool {
	from, to := s.Chains(chains)
	return from < to
}
