package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A command is kir next, started anew for each question about recipes under rules.
type command struct {
	ctx     context.Context
	program string
	limit   time.Duration
}

func (c *command) greeting() answer { return answer{Versions: []string{"kir"}} }
func (c *command) close() error     { return nil }

func (c *command) ask(q question) (answer, error) {
	dir, err := os.MkdirTemp("", "kir-peers-")
	if err != nil {
		return answer{}, err
	}
	defer os.RemoveAll(dir)
	if err := writeProblem(dir, q); err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.limit)
	defer cancel()
	began := time.Now()
	run := exec.CommandContext(ctx, c.program, "next", filepath.Join(dir, "problem.yaml"), "-n", strconv.Itoa(q.N), "--seed", strconv.Itoa(q.Seed), "--json")
	run.Env = append(os.Environ(), "GOMAXPROCS=1")
	var complaint bytes.Buffer
	run.Stderr = &complaint
	text, err := run.Output()
	a := answer{Seconds: time.Since(began).Seconds()}
	if s := run.ProcessState; s != nil {
		a.Processor = (s.UserTime() + s.SystemTime()).Seconds()
		if u, ok := s.SysUsage().(*syscall.Rusage); ok {
			a.Peak = float64(u.Maxrss) / 1024
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		a.Refused = strings.TrimSpace(complaint.String())
		return a, nil
	}
	if err != nil {
		return a, err
	}
	var said struct {
		Batch []struct {
			Recipe map[string]float64 `json:"recipe"`
		} `json:"batch"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return a, fmt.Errorf("kir next: %w", err)
	}
	for _, e := range said.Batch {
		x := make([]float64, len(q.Names))
		for i, name := range q.Names {
			x[i] = e.Recipe[name] / float64(q.Total)
		}
		a.Recipes = append(a.Recipes, x)
	}
	return a, nil
}

// writeProblem writes a problem with its ingredients and trials.
func writeProblem(dir string, q question) error {
	r := q.Rules
	stock := [][]string{{"name", "price"}}
	trials := [][]string{append([]string{"recipe"}, append(append([]string(nil), q.Names...), "y")...)}
	for i, name := range q.Names {
		price := "0"
		if r.Price != nil {
			price = strconv.FormatFloat(r.Price[i], 'g', -1, 64)
		}
		stock = append(stock, []string{name, price})
	}
	for k, x := range q.X {
		row := []string{fmt.Sprint("trial ", k+1)}
		for _, share := range x {
			row = append(row, strconv.FormatFloat(share*float64(q.Total), 'f', 0, 64))
		}
		trials = append(trials, append(row, strconv.FormatFloat(q.Y[k], 'g', -1, 64)))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "total: %d\ningredients: ingredients.csv\nrecipes: trials.csv\n", q.Total)
	fmt.Fprintf(&text, "sparsity: {uniform: [%d, %d]}\nproperties: {y: {learn: {label: y, maximize: true}}}\nconstraints:\n  - amount: {of: \"*\", min: %g%%}\n", r.Least, r.Most, 100*max(r.Smallest, 1/float64(q.Total)))
	if r.Price != nil {
		fmt.Fprintf(&text, "  - limit: {attribute: price, max: %g}\n", r.Budget)
	}
	for _, g := range r.Groups {
		var members []string
		for _, i := range g.Members {
			members = append(members, q.Names[i])
		}
		fmt.Fprintf(&text, "  - group: {of: [%s], total: [\"0%%\", \"%g%%\"]}\n", strings.Join(members, ", "), 100*g.Most)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "problem.yaml"), []byte(text.String()), 0o600),
		writeTable(filepath.Join(dir, "ingredients.csv"), stock),
		writeTable(filepath.Join(dir, "trials.csv"), trials))
}

func writeTable(path string, rows [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}
