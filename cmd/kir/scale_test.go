package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const scaleProblem = "ingredients: {count: 5}\ntotal: 10\nsparsity: {uniform: [1, 2]}\nsampler: {warmup: 10}\n"

// fewerDraws has a command make 20 draws in place of its 100,000: the number must be there.
func fewerDraws(t *testing.T, words []string) []string {
	t.Helper()
	k := slices.Index(words, "--draws")
	if k < 0 || words[k+1] != "100000" {
		t.Errorf("%q has no number of draws, which shards need", words)
		return append(words, "--draws", "20")
	}
	words = slices.Clone(words)
	words[k+1] = "20"
	return words
}

// runScale runs the command in this process.
func runScale(t *testing.T, words ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := execute(t.Context(), words, &out, &out); err != nil {
		t.Errorf("kir %q: %v; %s", words, err, out.String())
	}
}

// TestScaleManifest runs each pod of the Kubernetes Job as its manifest has it, in the image
// that scripts/image makes, which has nothing but the program.
func TestScaleManifest(t *testing.T) {
	text, err := os.ReadFile("../../examples/scale/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct {
					Containers []struct {
						Command, Args []string
						Env           []struct{ Name, Value string }
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &job); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile("../../scripts/image")
	if err != nil {
		t.Fatal(err)
	}
	if s := string(image); !strings.Contains(s, "diff_ids: [$shared.diff, $program.diff]") || !strings.Contains(s, `Entrypoint: ["/usr/bin/kir"]`) {
		t.Fatal("the image is another: is the program its entry, and what else is in it?")
	}
	c := job.Spec.Template.Spec.Containers[0]
	if len(c.Command) > 0 && c.Command[0] != "/usr/bin/kir" {
		t.Fatalf("the manifest runs %q, which is not in the image", c.Command)
	}
	if job.Spec.CompletionMode != "Indexed" || job.Spec.Completions < 2 {
		t.Fatalf("the job is %s and has %d completions", job.Spec.CompletionMode, job.Spec.Completions)
	}
	dir := t.TempDir()
	problem := filepath.Join(dir, "problem.yaml")
	if err := os.WriteFile(problem, []byte(scaleProblem), 0o644); err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	for _, e := range c.Env {
		values[e.Name] = e.Value
	}
	if !strings.HasPrefix(values["RUN"], "s3://") {
		t.Errorf("the run is %q, no bucket", values["RUN"])
	}
	values["RUN"] = filepath.Join(dir, "run")
	t.Setenv("JOB_COMPLETIONS", values["JOB_COMPLETIONS"])
	variable := regexp.MustCompile(`\$\((\w+)\)`)
	var words []string
	for _, word := range fewerDraws(t, c.Args) {
		word = variable.ReplaceAllStringFunc(word, func(v string) string { return values[v[2:len(v)-1]] })
		words = append(words, strings.ReplaceAll(word, "/problem/problem.yaml", problem))
	}
	for k := range job.Spec.Completions {
		t.Setenv("JOB_COMPLETION_INDEX", strconv.Itoa(k))
		runScale(t, words...)
	}
	runScale(t, "merge", values["RUN"])
}

// TestScaleScript runs each task of the array that slurm.sh is said to be started with.
func TestScaleScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	document, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../examples/scale/slurm.sh")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	started := regexp.MustCompile(`sbatch --array=1-16 \S*slurm\.sh (problem\.yaml .*)\n`)
	commands := make(map[string]bool) // the two say the same, which is run once
	for name, text := range map[string]string{"docs/scale.md": string(document), "slurm.sh": string(text)} {
		m := started.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s starts no array", name)
		}
		commands[m[1]] = true
	}
	for command := range commands {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "problem.yaml"), []byte(scaleProblem), 0o644); err != nil {
			t.Fatal(err)
		}
		words := fewerDraws(t, strings.Fields(command))
		words[1] = "run"
		// kir is what the script hands over, a word a line.
		if err := os.WriteFile(filepath.Join(dir, "kir"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SLURM_ARRAY_TASK_MAX", "16")
		t.Setenv("SLURM_ARRAY_TASK_COUNT", "16")
		for k := 1; k <= 16; k++ {
			t.Setenv("SLURM_ARRAY_TASK_ID", strconv.Itoa(k))
			c := exec.Command(bash, append([]string{script}, words...)...)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			given := strings.Fields(string(out))
			given[1], given[3] = filepath.Join(dir, "problem.yaml"), filepath.Join(dir, "run")
			runScale(t, given...)
		}
		runScale(t, "merge", filepath.Join(dir, "run"))
	}
}

// TestScaleBatch runs each job of the array of AWS Batch.
func TestScaleBatch(t *testing.T) {
	text, err := os.ReadFile("../../examples/scale/aws-batch.json")
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		ArrayProperties    struct{ Size int }
		ContainerOverrides struct{ Command []string }
	}
	if err := json.Unmarshal(text, &job); err != nil {
		t.Fatal(err)
	}
	if job.ArrayProperties.Size < 2 {
		t.Fatalf("the array has %d jobs", job.ArrayProperties.Size)
	}
	dir := t.TempDir()
	words := inDirectory(t, fewerDraws(t, job.ContainerOverrides.Command), dir, "run")
	t.Setenv("AWS_BATCH_JOB_ARRAY_SIZE", strconv.Itoa(job.ArrayProperties.Size))
	for k := range job.ArrayProperties.Size {
		t.Setenv("AWS_BATCH_JOB_ARRAY_INDEX", strconv.Itoa(k))
		runScale(t, words...)
	}
	runScale(t, "merge", filepath.Join(dir, "run"))
}

// inDirectory puts the problem and the run of a kir sample command into a directory.
func inDirectory(t *testing.T, words []string, dir, name string) []string {
	t.Helper()
	words = slices.Clone(words)
	words[1] = filepath.Join(dir, "problem.yaml")
	if err := os.WriteFile(words[1], []byte(scaleProblem), 0o644); err != nil {
		t.Fatal(err)
	}
	words[slices.Index(words, "-o")+1] = filepath.Join(dir, name)
	return words
}

// TestScaleDocument: each command of docs/scale.md that begins a shared run has flags that there are, and is run.
func TestScaleDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    kir (sample problem\.yaml .*?)( *#.*)?$`).FindAllStringSubmatch(string(text), -1)
	if len(commands) < 3 {
		t.Fatalf("it has %d commands", len(commands))
	}
	dir := t.TempDir()
	for k, m := range commands {
		words := strings.Fields(m[1])
		if slices.Contains(words, "--shard") {
			words = fewerDraws(t, words)
		}
		runScale(t, inDirectory(t, words, dir, strconv.Itoa(k))...)
	}
}
