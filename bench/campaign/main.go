// Command campaign replays campaigns: a table of recipes that somebody has measured, all
// of them, answers as an experiment would. Each campaign begins with recipes of the worse
// half, the same for all arms, and goes on in batches that an arm chooses.
//
//	go run ./bench/campaign -data DIR -keep replays.jsonl -seeds 20 -batch 8
//
// With -trade the campaigns are for trade-offs of two objectives, by the arms random, next and ehvi. With -conditions a trial sets more
// than amounts, and a batch has two values of one of these conditions.
//
// DIR, or KIR_EXPERIMENTS, is the directory of the experiments; -table, -label and
// -minimize name any table of recipes instead. Campaigns that are in the file of -keep
// are not made again, so that a replay can go on after it was interrupted.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A record is one campaign that was replayed.
type record struct {
	Oracle string    `json:"oracle"`
	Arm    string    `json:"arm"`
	Seed   uint64    `json:"seed"`
	Batch  int       `json:"batch"`
	Regret []float64 `json:"regret"`         // after the start and each round, in the label's unit
	Closed []float64 `json:"closed"`         // the share of the first regret that is gone
	Left   []float64 `json:"left,omitempty"` // before each round: the probability, as the arm says it, that something better is left
	Stop   []bool    `json:"stop,omitempty"` // before each round: whether the arm advises to stop
	More   []float64 `json:"more,omitempty"` // of a trade-off, before each round: the greatest share of the hypervolume that a recipe that is left adds
	Said   []float64 `json:"said,omitempty"` // of each recipe that is chosen for it: the probability, as the arm says it, that it beats what was tried
	Came   []bool    `json:"came,omitempty"` // whether it did

	Off [][]float64 `json:"off,omitempty"` // of each round's recipes: how far the value is from its prediction, in half intervals
}

func (r *record) key() string { return fmt.Sprintf("%s %s %d %d", r.Oracle, r.Arm, r.Seed, r.Batch) }

const (
	startSize = 20
	trials    = 64 // after the start

	tradeTrials = 48 // the same for a trade-off
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir := flag.String("data", os.Getenv("KIR_EXPERIMENTS"), "directory of the experiments")
	file := flag.String("table", "", "any table of recipes instead")
	label := flag.String("label", "", "its label")
	minimize := flag.Bool("minimize", false, "the label is the better the smaller it is")
	total := flag.Int("total", 1000, "units of a recipe of such a table")
	failures := flag.Bool("failures", false, "a recipe of such a table without a label failed")
	keep := flag.String("keep", "", "file of the campaigns that were made, to go on with")
	seeds := flag.Int("seeds", 20, "campaigns of each arm")
	first := flag.Int("first", 0, "seed of the first of them")
	batch := flag.Int("batch", 8, "recipes a batch")
	only := flag.String("only", "", "oracles, with commas between; empty: all")
	which := flag.String("arms", "", "arms; empty: random,shortlist,next,gp,rf, and of trade-offs random,next,ehvi")
	program := flag.String("python", "/usr/bin/python3", "a Python that has scikit-learn")
	script := flag.String("script", "bench/campaign/arms.py", "scikit-learn's arms")
	anywhere := flag.Bool("anywhere", false, "begin with recipes of the whole table, not of its worse half")
	workers := flag.Int("workers", 2, "campaigns at once")
	show := flag.Bool("show", false, "show what was kept, and replay nothing")
	figure := flag.String("figure", "", "file of the figure, SVG")
	trade := flag.Bool("trade", false, "replay trade-offs of two objectives, with the arms random, next and ehvi")
	conditions := flag.Bool("conditions", false, "replay tables whose trials set more than amounts")
	printed := flag.Bool("export", false, "print the tables and the starts of their campaigns as JSON lines, for bench/peers, and replay nothing")
	flag.Parse()

	known := tables
	if *trade {
		known, *which = trades, cmp.Or(*which, "random,next,ehvi")
	}
	*which = cmp.Or(*which, "random,shortlist,next,gp,rf")
	if *conditions {
		known = underConditions
	}
	var oracles []*oracle
	wanted, found := strings.Split(*only, ","), []string{}
	switch {
	case *file != "":
		o, err := readBook(ctx, *file, table{file: *file, label: *label, minimize: *minimize, total: *total, failures: *failures})
		if err != nil {
			return err
		}
		oracles = append(oracles, o)
	case *dir == "":
		return errors.New("say where the experiments are: -data DIR, or -table FILE -label NAME")
	default:
		for _, t := range known {
			name := cmp.Or(t.name, strings.TrimSuffix(t.file, ".csv"))
			if *only != "" && !slices.Contains(wanted, name) {
				continue
			}
			found = append(found, name)
			o, err := readOracle(ctx, *dir, t)
			if err != nil {
				return err
			}
			oracles = append(oracles, o)
		}
	}
	if *printed {
		return export(os.Stdout, oracles, seedsFrom(*first, *seeds))
	}
	for _, name := range wanted {
		if *only != "" && *file == "" && !slices.Contains(found, name) {
			return fmt.Errorf("there is no oracle %q", name)
		}
	}
	for _, o := range oracles {
		if o.anywhere = *anywhere; o.anywhere {
			o.name += " from anywhere" // so that the campaigns of both starts may be kept in one file
		}
	}
	kept, err := readKept(*keep)
	if err != nil {
		return err
	}
	names := strings.Split(*which, ",")
	if !*show {
		if err := replayAll(ctx, oracles, names, seedsFrom(*first, *seeds), *batch, *workers, *keep, kept, *program, *script); err != nil {
			return err
		}
	}
	all := seedsFrom(*first, *seeds)
	if *trade {
		reportVolumes(os.Stdout, oracles, names, kept, *batch, all)
	} else {
		report(os.Stdout, oracles, names, kept, *batch, all)
	}
	if slices.Contains(names, "next") {
		if !*trade {
			calibration(os.Stdout, oracles, "next", kept, *batch, all)
		}
		advice(os.Stdout, oracles, "next", kept, *batch, all)
		intervals(os.Stdout, oracles, "next", kept, *batch, all)
	}
	if *figure != "" {
		return saveFigure(*figure, oracles, names, kept, *batch, all)
	}
	return nil
}

// seedsFrom returns so many seeds from a first one on.
func seedsFrom(first, count int) []uint64 {
	seeds := make([]uint64, count)
	for k := range seeds {
		seeds[k] = uint64(first + k)
	}
	return seeds
}

// readKept reads the campaigns that were made.
func readKept(path string) (map[string]*record, error) {
	kept := make(map[string]*record)
	if path == "" {
		return kept, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r := new(record)
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			continue // the end of an interrupted one
		}
		kept[r.key()] = r
	}
	return kept, lines.Err()
}

// replayAll makes the campaigns that are missing.
func replayAll(ctx context.Context, oracles []*oracle, names []string, seeds []uint64, batch, workers int, keep string, kept map[string]*record, program, script string) error {
	type job struct {
		o    *oracle
		name string
		seed uint64
	}
	var jobs []job
	for _, seed := range seeds {
		for _, o := range oracles {
			for _, name := range names {
				r := record{Oracle: o.name, Arm: name, Seed: seed, Batch: batch}
				if kept[r.key()] == nil {
					jobs = append(jobs, job{o, name, seed})
				}
			}
		}
	}
	var mu sync.Mutex
	var first error
	queue := make(chan job)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = err
		}
		cancel()
	}
	for range workers {
		wg.Go(func() {
			var py *python
			defer func() {
				if py != nil {
					if err := py.close(); err != nil {
						fail(err)
					}
				}
			}()
			for j := range queue {
				a := arm{name: j.name}
				switch j.name {
				case "random":
					a.choose = random
				case "shortlist":
					a.choose = shortlist
				case "next":
					a.choose = next
				case "ehvi":
					a.choose = expected
				case "gp", "rf":
					if py == nil {
						var err error
						if py, err = startPython(ctx, program, script); err != nil {
							fail(err)
							continue
						}
					}
					a.choose = py.arm(j.name)
				default:
					fail(fmt.Errorf("there is no arm %q", j.name))
					continue
				}
				r, err := replayOne(ctx, j.o, a, j.seed, batch)
				if err != nil {
					fail(fmt.Errorf("%s on %s: %w", j.name, j.o.name, err))
					continue
				}
				mu.Lock()
				kept[r.key()] = r
				if keep != "" {
					err = appendLine(keep, r)
				}
				mu.Unlock()
				if err != nil {
					fail(err)
				}
			}
		})
	}
	for _, j := range jobs {
		select {
		case queue <- j:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	wg.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}

func appendLine(path string, r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// replayOne makes one campaign.
func replayOne(ctx context.Context, o *oracle, a arm, seed uint64, batch int) (*record, error) {
	dir, err := os.MkdirTemp("", "kir-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p := &replay{o: o, seed: seed, size: batch, dir: filepath.Clean(dir), r: rand.New(rand.NewPCG(seed, 7)), ids: make(map[int]string)}
	p.tried = o.start(p.r)
	best := o.worth(p.tried[0])
	for _, k := range p.tried {
		best = max(best, o.worth(k))
	}
	start := best
	if start < o.worth(o.order[0]) || start == o.worth(o.order[0]) && start != start {
		start = o.worth(o.order[0])
	}
	// Where all of the start failed, the first regret is that of the worst that did not.
	for _, k := range o.order {
		if v := o.worth(k); start < v && start < -1e300 {
			start = v
		}
	}
	r := &record{Oracle: o.name, Arm: a.name, Seed: seed, Batch: batch}
	if o.second != nil {
		return r, replayTrade(ctx, p, a, r)
	}
	note := func() {
		regret := o.best - max(best, start)
		r.Regret = append(r.Regret, regret)
		closed := 1.0 // where the start has the best
		if start < o.best {
			closed = 1 - regret/(o.best-start)
		}
		r.Closed = append(r.Closed, closed)
	}
	note()
	defer func() { r.Left, r.Stop, r.Said, r.Came, r.Off = p.left, p.stop, p.said, p.came, p.off }()
	for range rounds(o, batch) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chosen, err := a.choose(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, k := range chosen {
			best = max(best, o.worth(k))
			if !slices.Contains(p.tried, k) {
				p.tried = append(p.tried, k)
			}
		}
		note()
	}
	return r, nil
}

// start returns the recipes that a campaign begins with, of the worse half or of the whole table.
func (o *oracle) start(r *rand.Rand) []int {
	from := slices.Clone(o.order[:len(o.order)/2])
	if o.anywhere {
		from = slices.Clone(o.order)
	}
	r.Shuffle(len(from), func(a, b int) { from[a], from[b] = from[b], from[a] })
	return from[:startSize:startSize]
}

// rounds is how many batches a campaign has: 64 trials, 48 for a trade-off, or what leaves half of a
// small table untried.
func rounds(o *oracle, batch int) int {
	most := trials
	if o.second != nil {
		most = tradeTrials
	}
	return min(most/batch, max(2, (len(o.recipes)/2-startSize)/batch))
}
