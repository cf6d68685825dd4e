package run

import (
	"strings"
	"testing"
)

// TestEngineShard: a task's place among the tasks of its job, by the variables of each engine.
func TestEngineShard(t *testing.T) {
	for name, c := range map[string]struct {
		set    string
		stored int // shards of the stored run
		want   string
	}{
		"Slurm":                 {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MAX=16 SLURM_ARRAY_TASK_COUNT=16", 0, "3/16"},
		"Slurm, again":          {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MAX=16 SLURM_ARRAY_TASK_COUNT=16", 16, "3/16"},
		"Slurm, one":            {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MAX=1 SLURM_ARRAY_TASK_COUNT=1", 0, "1/1"},
		"Slurm, one again":      {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1", 16, "3/16"},
		"Slurm, the first":      {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MAX=1 SLURM_ARRAY_TASK_COUNT=1", 16, "1/16"},
		"Slurm, the last":       {"SLURM_ARRAY_TASK_ID=16 SLURM_ARRAY_TASK_MAX=16 SLURM_ARRAY_TASK_COUNT=1", 16, "16/16"},
		"Slurm, some again":     {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MAX=9 SLURM_ARRAY_TASK_COUNT=3", 16, "7/16"},
		"Slurm, more":           {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MAX=32 SLURM_ARRAY_TASK_COUNT=32", 16, "error: goes to index 32, and the run has 16 shards: start the job with indices up to 16, or write K/S, such as $SLURM_ARRAY_TASK_ID/32,"},
		"Slurm, nothing stored": {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1", 0, "error: has 1 task up to index 3, and the run has stored nothing that tells the number of shards: start the job with sbatch --array=1-16, without gaps or a step, or write K/S, such as 3/16"},
		"Slurm from 0":          {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4", 0, "error: shards are numbered from 1"},
		"Slurm, 0 again":        {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MAX=0 SLURM_ARRAY_TASK_COUNT=1", 16, "error: shards are numbered from 1"},
		"Slurm from 0, the 1":   {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4", 0, "error: has 4 tasks up to index 3"},
		"Slurm from 5":          {"SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=4", 0, "error: has 4 tasks up to index 8"},
		"Slurm with a step":     {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MAX=6 SLURM_ARRAY_TASK_COUNT=4", 0, "error: without gaps or a step"},
		"Slurm without a last":  {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1", 0, "error: SLURM_ARRAY_TASK_MAX is"},
		"Slurm beyond":          {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4", 0, "error: is 5"},
		"Kubernetes":            {"JOB_COMPLETION_INDEX=15 JOB_COMPLETIONS=16", 0, "16/16"},
		"Kubernetes, again":     {"JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=16", 16, "3/16"},
		"Kubernetes, fewer":     {"JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=1", 16, "1/1"},
		"Kubernetes, uncounted": {"JOB_COMPLETION_INDEX=15", 0, "error: JOB_COMPLETIONS is"},
		"Kubernetes, beyond":    {"JOB_COMPLETION_INDEX=16 JOB_COMPLETIONS=16", 0, "error: is 16"},
		"AWS Batch":             {"AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=2", 0, "1/2"},
		"AWS Batch, fewer":      {"AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=2", 16, "2/2"},
		"no number":             {"AWS_BATCH_JOB_ARRAY_INDEX=x AWS_BATCH_JOB_ARRAY_SIZE=2", 0, "error: must be a number"},
		"none":                  {"", 0, "error: works only in a task"},
		"two":                   {"AWS_BATCH_JOB_ARRAY_INDEX=0 JOB_COMPLETION_INDEX=0", 0, "error: not clear"},
	} {
		set := make(map[string]string)
		for _, pair := range strings.Fields(c.set) {
			key, value, _ := strings.Cut(pair, "=")
			set[key] = value
		}
		s, err := shardFromBatchSystem(func(name string) string { return set[name] }, c.stored)
		if want, fails := strings.CutPrefix(c.want, "error: "); fails != (err != nil) || fails && !strings.Contains(err.Error(), want) || !fails && s.String() != want {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
