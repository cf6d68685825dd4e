package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// samplerKinds lists what -samplers measures, in the order of its tables.
var samplerKinds = []string{"polytopes", "targets", "evolution", "portfolios", "models"}

// A samplerBench measures kir beside samplers, solvers and programs of evolution.
type samplerBench struct {
	python  string // the interpreter of the virtual environment; empty: there is none
	scripts string
	index   string // a file of the OR-Library; empty: none
	tables  string // the directory of the experiments; empty: none
	keep    string
	seeds   int
	limit   time.Duration // of one answer
	scratch string        // the directory of draws
	kept    []samplerRecord
}

// A samplerRecord is one answer.
type samplerRecord struct {
	Task      string               `json:"task"` // one of samplerKinds
	On        string               `json:"on"`
	Arm       string               `json:"arm"`
	Seed      int                  `json:"seed"`
	Versions  []string             `json:"versions,omitempty"`
	Seconds   float64              `json:"seconds"`
	Setup     float64              `json:"setup"`     // seconds of the processor before the first draw that is kept
	Processor float64              `json:"processor"` // and since then
	Peak      float64              `json:"peak,omitempty"`
	Figures   map[string]float64   `json:"figures,omitempty"`
	Vectors   map[string][]float64 `json:"vectors,omitempty"`
	Points    [][]float64          `json:"points,omitempty"` // of evolution: the losses of a front
	Refused   string               `json:"refused,omitempty"`
	Recorded  string               `json:"recorded"` // the date
}

// key says what was measured.
func (r *samplerRecord) key() string {
	return fmt.Sprint(r.Task, "|", r.On, "|", r.Arm, "|", r.Seed)
}

// isMeasured reports whether a measurement was made, or cannot be made as there is no Python.
func (b *samplerBench) isMeasured(r samplerRecord) bool {
	if b.python == "" && !strings.HasPrefix(r.Arm, "kir") {
		return true
	}
	return slices.ContainsFunc(b.kept, func(k samplerRecord) bool { return k.key() == r.key() })
}

// add keeps a measurement.
func (b *samplerBench) add(r samplerRecord) error {
	r.Recorded = time.Now().Format(time.DateOnly)
	b.kept = append(b.kept, r)
	fmt.Fprintf(os.Stderr, "%s, %s, %s, seed %d: %.2f s and %.2f s %v %s\n", r.Task, r.On, r.Arm, r.Seed, r.Setup, r.Processor, r.Figures, r.Refused)
	return appendRecord(b.keep, r)
}

// run measures what is missing of the kinds, unless it is only to show what was kept, and prints tables.
func (b *samplerBench) run(ctx context.Context, kinds []string, show bool) error {
	if _, err := os.Stat(b.python); err != nil && !show {
		fmt.Fprintf(os.Stderr, "peers: there is no %s: only kir is measured. Make it with -install -samplers, which needs PyPI.\n", b.python)
		b.python = ""
	}
	var err error
	if b.kept, err = readKept[samplerRecord](b.keep); err != nil {
		return err
	}
	if !show {
		if b.scratch, err = os.MkdirTemp("", "kir-samplers-"); err != nil {
			return err
		}
		defer os.RemoveAll(b.scratch)
		if err := b.measure(ctx, kinds); err != nil {
			return err
		}
	}
	fmt.Printf("%s, %s/%s, one thread each\n", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH)
	reportSamplers(os.Stdout, b.kept)
	return nil
}

// measure measures the kinds that are asked for.
func (b *samplerBench) measure(ctx context.Context, kinds []string) error {
	for _, kind := range kinds {
		work, ok := map[string]func(context.Context) error{"polytopes": b.polytopes, "targets": b.targets,
			"evolution": b.evolution, "portfolios": b.portfolios, "models": b.models}[kind]
		if !ok {
			return fmt.Errorf("-kinds: there is no %q, only %s", kind, strings.Join(samplerKinds, ", "))
		}
		if err := work(ctx); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return ctx.Err()
}

// ask starts the script of an arm, asks it one question, and reads its answer into r. A script may ask for losses before
// it answers: evaluate, if it is not nil, answers such lines.
func (b *samplerBench) ask(ctx context.Context, script string, question any, r *samplerRecord, evaluate func(line []byte) (any, error)) error {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	c := exec.CommandContext(ctx, b.python, filepath.Join(b.scripts, "samplers_"+script+".py"))
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	err = converse(in, out, question, r, evaluate)
	err = errors.Join(err, c.Wait())
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s := c.ProcessState
		r.Refused, r.Seconds, r.Processor = errSlow.Error(), b.limit.Seconds(), (s.UserTime() + s.SystemTime()).Seconds()
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", script, err, complaint.String())
	}
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.Peak = float64(u.Maxrss) / 1024
	}
	return nil
}

// converse writes the question, answers what is asked in return, and reads the answer.
func converse(in io.WriteCloser, out io.Reader, question any, r *samplerRecord, evaluate func(line []byte) (any, error)) error {
	defer in.Close()
	write := json.NewEncoder(in)
	if err := write.Encode(question); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		if evaluate == nil || !bytes.HasPrefix(lines.Bytes(), []byte(`{"evaluate"`)) {
			return json.Unmarshal(lines.Bytes(), r)
		}
		losses, err := evaluate(lines.Bytes())
		if err != nil {
			return err
		}
		if err := write.Encode(losses); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), errors.New("there is no answer"))
}
