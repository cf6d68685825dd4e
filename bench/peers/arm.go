package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A question is what an arm is asked: n of the pool, or n recipes that keep the rules.
type question struct {
	Names []string    `json:"names"`
	X     [][]float64 `json:"x"` // shares of what was tried
	Y     []float64   `json:"y"` // more is better; the worst of the others where a trial failed
	N     int         `json:"n"`
	Seed  int         `json:"seed"`
	Pool  [][]float64 `json:"pool,omitempty"`
	Rules *ruleset    `json:"rules,omitempty"`

	Total  int    `json:"total,omitempty"` // units of a recipe
	Most   int    `json:"most,omitempty"`  // ingredients of a recipe
	Failed []bool `json:"failed,omitempty"`

	Problem string               `json:"problem,omitempty"` // kir's problem file of a table, its ingredients.csv, and what was measured by its labels
	Stock   string               `json:"stock,omitempty"`
	Results []map[string]float64 `json:"results,omitempty"`

	Z      []float64 `json:"z,omitempty"`      // of two objectives: the second, more is better
	Prices []float64 `json:"prices,omitempty"` // of the ingredients, if the second is known: less the mean price
	Known  []float64 `json:"known,omitempty"`  // the same of the pool

	Conditions   []condition `json:"conditions,omitempty"` // set beside the amounts
	Settings     [][]any     `json:"settings,omitempty"`   // of what was tried: the value of each condition
	PoolSettings [][]any     `json:"pool_settings,omitempty"`
	Features     [][]float64 `json:"features,omitempty"` // the same as numbers from 0 to 1, a column for each category
	PoolFeatures [][]float64 `json:"pool_features,omitempty"`
}

// A condition is what a trial sets beside the amounts, a number or a category.
type condition struct {
	Name   string `json:"name"`
	Number bool   `json:"number"`
}

// An answer is what an arm says, and what it took.
type answer struct {
	Chosen    []int       `json:"chosen"`
	Recipes   [][]float64 `json:"recipes"`
	Refused   string      `json:"refused"`
	Seconds   float64     `json:"seconds"`
	Processor float64     `json:"processor"`
	Peak      float64     `json:"peak"`
	Versions  []string    `json:"versions"` // of the first line alone
}

// An arm answers questions.
type arm interface {
	ask(question) (answer, error)
	greeting() answer // versions of the programs, and what the start took
	close() error
}

// startArm starts an arm by its name.
func (b *bench) startArm(ctx context.Context, name string) (arm, error) {
	switch name {
	case "random":
		return randomArm{}, nil
	case "kir", "ehvi":
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return startProcess(ctx, b.limit, self, "-answer", name)
	}
	return startProcess(ctx, b.limit, b.python, filepath.Join(b.scripts, "ask_"+name+".py"))
}

// A process is an arm that is a program, which answers as long as it is asked.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte // closed when the program ends
	limit   time.Duration
	first   answer
}

// errSlow says that an answer took longer than it may.
var errSlow = errors.New("no answer within the limit")

func startProcess(ctx context.Context, limit time.Duration, program string, args ...string) (*process, error) {
	p := &process{command: exec.CommandContext(ctx, program, args...), lines: make(chan []byte), limit: limit}
	p.command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "GOMAXPROCS=1")
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 1<<26)
		for s.Scan() {
			p.lines <- append([]byte(nil), s.Bytes()...)
		}
	}()
	p.first, err = p.read()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w", program, args, err)
	}
	return p, nil
}

func (p *process) read() (answer, error) {
	var a answer
	select {
	case line, ok := <-p.lines:
		if !ok {
			return a, errors.New("the arm ended")
		}
		return a, json.Unmarshal(line, &a)
	case <-time.After(p.limit):
		return a, errSlow
	}
}

func (p *process) greeting() answer { return p.first }

func (p *process) ask(q question) (answer, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return answer{}, err
	}
	return p.read()
}

// close ends the program, and kills one that is still at work.
func (p *process) close() error {
	err := p.in.Close()
	done := make(chan struct{})
	go func() {
		for range p.lines { // what it still says
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		err = errors.Join(err, p.command.Process.Kill())
		<-done
	}
	var exit *exec.ExitError
	if e := p.command.Wait(); e != nil && !errors.As(e, &exit) {
		err = errors.Join(err, e)
	}
	return err
}

// A randomArm takes recipes of the pool by chance.
type randomArm struct{}

func (randomArm) greeting() answer { return answer{} }
func (randomArm) close() error     { return nil }

func (randomArm) ask(q question) (answer, error) {
	if q.Pool == nil {
		return answer{Refused: "has no rules"}, nil
	}
	r := rand.New(rand.NewPCG(uint64(q.Seed), 11))
	return answer{Chosen: r.Perm(len(q.Pool))[:min(q.N, len(q.Pool))]}, nil
}
