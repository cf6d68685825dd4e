package run

import (
	"strings"
	"testing"
)

// TestEngineShard: a task's place among the tasks of its job, by the variables of each engine.
func TestEngineShard(t *testing.T) {
	for name, c := range map[string]struct{ set, want string }{
		"Slurm":                 {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=16 SLURM_ARRAY_TASK_COUNT=16", "3/16"},
		"Slurm from 0":          {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4", "1/4"},
		"Slurm from 5":          {"SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=4", "4/4"},
		"Slurm with a step":     {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=6 SLURM_ARRAY_TASK_COUNT=4", "error: without gaps"},
		"Slurm, one of a few":   {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1", "error: SLURM_ARRAY_TASK_MIN is"},
		"Kubernetes":            {"JOB_COMPLETION_INDEX=15 JOB_COMPLETIONS=16", "16/16"},
		"Kubernetes, uncounted": {"JOB_COMPLETION_INDEX=15", "error: JOB_COMPLETIONS is"},
		"Kubernetes, beyond":    {"JOB_COMPLETION_INDEX=16 JOB_COMPLETIONS=16", "error: is 16"},
		"AWS Batch":             {"AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=2", "1/2"},
		"no number":             {"AWS_BATCH_JOB_ARRAY_INDEX=x AWS_BATCH_JOB_ARRAY_SIZE=2", "error: must be a number"},
		"none":                  {"", "error: works only in a task"},
		"two":                   {"AWS_BATCH_JOB_ARRAY_INDEX=0 JOB_COMPLETION_INDEX=0", "error: not clear"},
	} {
		set := make(map[string]string)
		for _, pair := range strings.Fields(c.set) {
			key, value, _ := strings.Cut(pair, "=")
			set[key] = value
		}
		s, err := shardFromBatchSystem(func(name string) string { return set[name] })
		if want, fails := strings.CutPrefix(c.want, "error: "); fails != (err != nil) || fails && !strings.Contains(err.Error(), want) || !fails && s.String() != want {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
