// Command schedule measures the processor time of each task of a run, and simulates how long all tasks take with
// several workers.
//
//	go run -C bench ./schedule [-problems FILES] [-chains N] [-workers 1,2,4,8,16]
//
// A worker takes the next task of the list as soon as it is free. A new list is made when all tasks of one list are
// done, as kir tasks does. Each task is a process that reads the problem anew; this time is printed apart.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A task is a task that was run.
type task struct {
	kind    string
	list    int     // number of the list that had it
	seconds float64 // of the processor
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "schedule:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	problems := flag.String("problems", "../examples/cocktails/problem.yaml,../examples/fragrance/problem.yaml,../examples/portfolio/problem.yaml", "problem files")
	chains := flag.Int("chains", 0, "chains; 0: as the problem has them")
	counts := flag.String("workers", "1,2,4,8,16", "numbers of workers")
	program := flag.String("kir", "kir", "the program kir")
	flag.Parse()
	var workers []int
	for text := range strings.SplitSeq(*counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of workers", text)
		}
		workers = append(workers, n)
	}
	dir, err := os.MkdirTemp("", "kir-schedule-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s\n\n| problem | part | tasks | processor s | longest | without reading |", time.Now().Format(time.DateOnly))
	for _, n := range workers {
		fmt.Printf(" gain with %d |", n)
	}
	fmt.Printf("\n|%s\n", strings.Repeat(" --- |", 6+len(workers)))
	for k, problem := range strings.Split(*problems, ",") {
		tasks, reading, err := measure(ctx, *program, problem, filepath.Join(dir, strconv.Itoa(k)), *chains)
		if err != nil {
			return fmt.Errorf("%s: %w", problem, err)
		}
		report(problem, tasks, reading, workers)
	}
	return nil
}

// measure runs all tasks of a run one after another. The result reading is the processor time of a task that has
// nothing to do.
func measure(ctx context.Context, program, problem, out string, chains int) (tasks []task, reading float64, err error) {
	args := []string{"sample", problem, "-o", out, "--tasks", "--quiet"}
	if chains > 0 {
		args = append(args, fmt.Sprintf("--chains=%d", chains))
	}
	if _, _, err := call(ctx, program, args...); err != nil {
		return nil, 0, err
	}
	for list := 0; ; list++ {
		text, _, err := call(ctx, program, "tasks", out, "--json", "--workers=1")
		if err != nil {
			return nil, 0, err
		}
		var left struct {
			Tasks []struct {
				Name, Kind string
				Command    []string
			}
			Done bool
		}
		if err := json.Unmarshal(text, &left); err != nil {
			return nil, 0, err
		}
		if left.Done {
			return tasks, reading, nil
		}
		for _, t := range left.Tasks {
			_, seconds, err := call(ctx, program, t.Command[1:]...)
			if err != nil {
				return nil, 0, err
			}
			kind := t.Kind
			if strings.Contains(t.Name, "/bound=") {
				kind = "bound"
			}
			tasks = append(tasks, task{kind, list, seconds})
		}
		if list == 0 {
			if _, reading, err = call(ctx, program, left.Tasks[0].Command[1:]...); err != nil {
				return nil, 0, err
			}
		}
	}
}

// call runs the program and returns its output and its processor time in seconds.
func call(ctx context.Context, program string, args ...string) (out []byte, seconds float64, err error) {
	c := exec.CommandContext(ctx, program, args...)
	out, err = c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, failed.Stderr)
	}
	if err != nil {
		return nil, 0, err
	}
	return out, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
}

// report prints a row for each kind of task, and one for all.
func report(problem string, tasks []task, reading float64, workers []int) {
	name := filepath.Base(filepath.Dir(problem))
	for _, kind := range []string{"chain", "figures", "search", "bound", "trade-off", ""} {
		var some []task
		sum, longest := 0.0, 0.0
		for _, t := range tasks {
			if kind == "" || t.kind == kind {
				some = append(some, t)
				sum, longest = sum+t.seconds, max(longest, t.seconds)
			}
		}
		if len(some) == 0 {
			continue
		}
		part := kind
		if kind == "" {
			part = "all"
		}
		fmt.Printf("| %s | %s | %d | %.2f | %.2f | %.2f |", name, part, len(some), sum, longest, sum-float64(len(some))*reading)
		for _, n := range workers {
			fmt.Printf(" %.1f |", sum/makespan(some, n))
		}
		fmt.Println()
	}
}

// makespan returns the time that workers take for tasks, list after list.
func makespan(tasks []task, workers int) float64 {
	total := 0.0
	for first := 0; first < len(tasks); {
		free := make([]float64, workers)
		next := first
		for ; next < len(tasks) && tasks[next].list == tasks[first].list; next++ {
			k := slices.Index(free, slices.Min(free))
			free[k] += tasks[next].seconds
		}
		total += slices.Max(free)
		first = next
	}
	return total
}
