// Command peers measures kir beside the programs that its users have: BoFire, BayBE, Ax, BoTorch, ENTMOOT and
// scikit-learn. Each peer is a process that answers lines of JSON; python/protocol.py has their form.
//
//	go run -C bench ./peers -install                                # once: a virtual environment of 7 GB
//	go run -C bench ./peers -data DIR -keep peers.jsonl             # campaigns on the tables of bench/campaign
//	go run -C bench ./peers -fronts -data DIR -keep peers.jsonl     # the same for two objectives
//	go run -C bench ./peers -conditions -data DIR -keep peers.jsonl # the same where trials set more than amounts
//	go run -C bench ./peers -rules -keep peers.jsonl                # sparse recipes under rules
//	go run -C bench ./peers -speed -keep peers.jsonl                # one batch by rows and ingredients
//	go run -C bench ./peers -all -data DIR -keep peers.jsonl        # all of these and what follows
//
// With -samplers it measures kir beside samplers, solvers and programs of evolution, which have an environment of their
// own of 1.3 GB; python/samplers_protocol.py has the form of their questions:
//
//	go run -C bench ./peers -install -samplers
//	go run -C bench ./peers -samplers -index port1.txt -data DIR -keep samplers.jsonl
//
// What is in the file of -keep is not measured again, so that a bench can go on after it was interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// armsOf returns the arms of a task in the order in which tables have them.
func armsOf(task string) []string {
	switch task {
	case "fronts":
		return []string{"random", "kir", "ehvi", "bofire", "baybe", "botorch"}
	case "conditions":
		return []string{"random", "kir", "bofire", "baybe", "botorch", "sklearn_gp"}
	}
	return []string{"random", "kir", "bofire", "baybe", "ax", "botorch", "sklearn_gp", "sklearn_rf", "entmoot"}
}

// someTables are the tables of campaigns with one objective unless others are named.
const someTables = "oer_plate_3851,photo_wf3,perovskite,electrolytes"

// A bench is how its parts are run.
type bench struct {
	python  string // the interpreter of the virtual environment
	scripts string // the directory of the arms in Python
	kir     string // the program, as the rules and the speed use it
	keep    string
	arms    []string
	seeds   int
	limit   time.Duration // of one answer
	kept    []record
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	install := flag.Bool("install", false, "make the virtual environment from requirements.lock")
	base := flag.String("base", "/usr/bin/python3", "the Python 3.11 that -install begins with")
	environment := flag.String("environment", "", "directory of the virtual environment; empty: kir-peers or kir-samplers in the user's cache")
	home := flag.String("home", "peers", "directory of this command's files")
	program := flag.String("kir", "", "the program kir; empty: it is built")
	data := flag.String("data", os.Getenv("KIR_EXPERIMENTS"), "directory of the experiments")
	only := flag.String("tables", someTables, "tables, with commas between; empty, and the default of -fronts and -conditions: all")
	arms := flag.String("arms", "", "arms; empty: all of the task")
	seeds := flag.Int("seeds", 4, "campaigns of each arm and table")
	rounds := flag.Int("rounds", 5, "batches of a campaign")
	size := flag.Int("batch", 4, "recipes of a batch")
	keep := flag.String("keep", "", "file of what was measured, to go on with")
	fronts := flag.Bool("fronts", false, "measure campaigns for two objectives")
	conditions := flag.Bool("conditions", false, "measure campaigns whose trials set more than amounts")
	rules := flag.Bool("rules", false, "measure sparse recipes under rules")
	speed := flag.Bool("speed", false, "measure one batch by rows and ingredients")
	samplers := flag.Bool("samplers", false, "measure samplers, solvers and programs of evolution")
	kinds := flag.String("kinds", strings.Join(samplerKinds, ","), "what -samplers measures")
	index := flag.String("index", os.Getenv("KIR_INDEX"), "a market index of the OR-Library, for the portfolios of -samplers")
	all := flag.Bool("all", false, "measure all of these, one after another")
	rows := flag.String("rows", "100,1000", "rows of -speed")
	ingredients := flag.String("ingredients", "6,20,60", "ingredients of -speed")
	limit := flag.Duration("limit", 10*time.Minute, "the longest time of one answer")
	show := flag.Bool("show", false, "print what was kept, and measure nothing")
	answer := flag.String("answer", "", "answer questions as the arm kir or ehvi")
	flag.Parse()

	lock := "requirements.lock"
	if *environment == "" {
		*environment = filepath.Join(cache, "kir-peers")
		if *samplers {
			*environment = filepath.Join(cache, "kir-samplers")
		}
	}
	if *samplers {
		lock = "requirements-samplers.lock"
	}
	task := "tables"
	for name, is := range map[string]bool{"fronts": *fronts, "conditions": *conditions, "rules": *rules, "speed": *speed} {
		if is {
			task = name
		}
	}
	if *only == someTables && task != "tables" {
		*only = ""
	}
	b := &bench{python: filepath.Join(*environment, "bin", "python"), scripts: filepath.Join(*home, "python"), kir: *program,
		keep: *keep, arms: armsOf(task), seeds: *seeds, limit: *limit}
	if *arms != "" {
		b.arms = strings.Split(*arms, ",")
	}
	switch {
	case *all:
		return measureAll(ctx, os.Args[1:])
	case *answer != "":
		return answerAll(ctx, *answer, os.Stdin, os.Stdout)
	case *install:
		return installPeers(ctx, *base, *environment, filepath.Join(*home, lock))
	case *samplers:
		s := &samplerBench{python: b.python, scripts: b.scripts, index: *index, tables: *data, keep: *keep, seeds: *seeds, limit: *limit}
		return s.run(ctx, strings.Split(*kinds, ","), *show)
	}
	if _, err := os.Stat(b.python); err != nil && !*show {
		fmt.Fprintf(os.Stderr, "peers: there is no %s: arms in Python are skipped. Make it with -install, which needs PyPI.\n", b.python)
		b.arms = ownArms(b.arms)
	}
	if b.kept, err = readKept[record](*keep); err != nil {
		return err
	}
	if !*show && b.kir == "" && (task == "rules" || task == "speed") {
		dir, err := os.MkdirTemp("", "kir-peers-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		b.kir = filepath.Join(dir, "kir")
		build := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", b.kir, "./cmd/kir")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build kir: %w", err)
		}
	}
	fmt.Printf("%s, %s/%s, one thread each\n\n", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH)
	defer func() { printVersions(os.Stdout, b.kept) }()
	if !*show {
		if err := b.measure(ctx, task, *data, *only, *rows, *ingredients, *rounds, *size); err != nil {
			return err
		}
	}
	switch task {
	case "rules":
		reportRules(os.Stdout, b.kept, b.arms)
	case "speed":
		reportSpeed(os.Stdout, b.kept, b.arms)
	case "fronts", "conditions":
		reportPaired(os.Stdout, b.kept, task, b.arms)
	default:
		reportTables(os.Stdout, b.kept, b.arms)
	}
	return nil
}

// measureAll runs this command for each task, with the other flags that it was given.
func measureAll(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.TrimLeft(arg, "-") == "all" })
	for _, task := range []string{"", "-fronts", "-conditions", "-rules", "-speed", "-samplers"} {
		c := exec.CommandContext(ctx, self, slices.DeleteFunc(append([]string{task}, args...), func(arg string) bool { return arg == "" })...)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimLeft(task, "-"), err)
		}
	}
	return nil
}

// measure measures what is missing of a task.
func (b *bench) measure(ctx context.Context, task, data, only, rows, ingredients string, rounds, size int) error {
	switch task {
	case "rules":
		return b.underRules(ctx)
	case "speed":
		return b.bySize(ctx, rows, ingredients)
	}
	if data == "" {
		return errors.New("say where the experiments are: -data DIR")
	}
	tables, err := readTables(ctx, task, data, only, b.seeds)
	if err != nil {
		return err
	}
	return b.campaigns(ctx, task, tables, rounds, size)
}

// ownArms returns the arms that need no Python.
func ownArms(arms []string) []string {
	var own []string
	for _, a := range arms {
		if a == "random" || a == "kir" || a == "ehvi" {
			own = append(own, a)
		}
	}
	return own
}

// installPeers makes the virtual environment.
func installPeers(ctx context.Context, base, environment, lock string) error {
	for _, line := range [][]string{
		{base, "-m", "venv", environment},
		{filepath.Join(environment, "bin", "pip"), "install", "--quiet", "--require-hashes", "-r", lock},
	} {
		c := exec.CommandContext(ctx, line[0], line[1:]...)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w; the peers need Python 3.11 and PyPI", strings.Join(line, " "), err)
		}
	}
	return nil
}
