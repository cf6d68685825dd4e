package property

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kir/internal/inputerr"
	"kir/mcmc"
)

// Program is a score that another program computes:
//
//	y(x) = the program's answer for x, a finite number of at least 0
//
// The program reads lines from its standard input and answers each with a line on its standard
// output. Each input line is a JSON array of recipes. A recipe is an object with the units of the
// used ingredients. The answer is a JSON array of their scores, in the same order:
//
//	[{"Gin":600,"Lime juice":400},{"Gin":601,"Lime juice":399}]
//	[0.25,0.75]
//
// The value of each condition, a number or a text, follows the amounts: {"Gin":600,"Ice":400,"temperature":4}.
//
// An array combines the requests of all chains that wait at the time: the splits of their lines,
// and their candidates. It has at most 4,096 recipes; a line with more takes several arrays. The
// program must be a function: a recipe always has the same score, whatever else was asked before or
// with it. So a recipe whose score is remembered is not asked for again. The end of the input is
// the end of the run. The environment variable KIR_TOTAL holds M, and KIR_INGREDIENTS a JSON array
// of the ingredients, if that has at most 32 KiB.
//
// The program starts at the first request. As many run at once as Processes allows. If one ends
// before it has answered, it is started once more and asked again. A second end, an answer that
// takes longer than Timeout, or an invalid answer ends the run with an error that quotes it. Close
// ends all running programs.
//
// The program runs with the rights of the user and may do what the user may do.
type Program struct {
	o    ProgramOptions
	path string
	keys [][]byte // JSON text `"name":` of each ingredient

	conditions [][][]byte // JSON text `"name":value` of each condition, by the index of its value

	slots         chan struct{} // a chain holds one slot while it uses a process; the capacity is Processes
	requestQueued chan struct{} // wakes a chain in waitForPeers when a request is queued

	mu           sync.Mutex
	idle         []*process
	queue        []*request // requests not yet sent to a process
	pending      int        // number of requests without an answer, queued or sent
	peers        int        // estimate of how many chains send requests at about one time
	meanCallTime time.Duration
	known        memo
	calls        int64 // number of calls that the program has answered
	recipes      int64 // number of recipes scored
	restarts     int
	err          error // first failure; once set, all scores are NaN
	closed       bool
}

var _ mcmc.BatchProperty = (*Program)(nil)

// ProgramOptions sets which program runs, and how.
type ProgramOptions struct {
	Command     []string // program and arguments, which are run without a shell
	Dir         string   // working directory, and base of a relative path to the program
	Ingredients []string
	Conditions  []ProgramCondition // in the order of the space's
	Total       int
	Timeout     time.Duration // time limit of one answer, above 0
	Processes   int           // greatest number of processes of the program that run at once, at least 1
	Batch       int           // number of candidates that a move draws and scores in one request, at least 1
	// Starting is called before each start of the program. An error from it prevents the start and ends the run.
	// Starting may be nil.
	Starting func() error
	// Tell receives warnings for the user. It is called from several goroutines, and may be nil.
	Tell func(message string)
}

// A ProgramCondition is a condition as a program reads it.
type ProgramCondition struct {
	Name   string
	Values []any // each a finite float64 or a string
}

const (
	maxRecipes  = 4096 // greatest number of recipes in one line of input
	maxRestarts = 20
)

// errClosed is the failure of every score after Close.
var errClosed = errors.New("the program has been closed")

// NewProgram returns a [Program]. The program starts at the first request, but NewProgram fails if the executable
// does not exist.
func NewProgram(o ProgramOptions) (*Program, error) {
	switch {
	case len(o.Command) == 0 || o.Command[0] == "":
		return nil, errors.New("there is no command to run")
	case o.Timeout <= 0:
		return nil, fmt.Errorf("the timeout is %v: it must be above 0", o.Timeout)
	case o.Processes < 1:
		return nil, fmt.Errorf("%d processes are too few: there must be at least 1", o.Processes)
	case o.Batch < 1:
		return nil, fmt.Errorf("a batch of %d candidates is too small: it must have at least 1", o.Batch)
	}
	path, err := FindProgram(o.Command[0], o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	p := &Program{o: o, path: path, slots: make(chan struct{}, o.Processes), requestQueued: make(chan struct{}, 1)}
	p.o.Command = slices.Clone(o.Command)
	for _, name := range o.Ingredients {
		p.keys = append(p.keys, append(quoteJSON(name), ':'))
	}
	for _, c := range o.Conditions {
		var values [][]byte
		for _, v := range c.Values {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("a value of the condition %s: %w", inputerr.Quote(c.Name), err)
			}
			values = append(values, slices.Concat(quoteJSON(c.Name), []byte{':'}, text))
		}
		p.conditions = append(p.conditions, values)
	}
	return p, nil
}

// FindProgram returns the path of an executable, given its name or its path relative to dir.
func FindProgram(name, dir string) (path string, err error) {
	// A name without a separator is looked up in the PATH.
	path = name
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		if path, err = filepath.Abs(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	if path, err = exec.LookPath(path); err != nil {
		return "", fmt.Errorf("the program %s cannot be run: %w", inputerr.Quote(name), err)
	}
	return path, nil
}

// name returns the quoted name of the program for messages.
func (p *Program) name() string { return inputerr.Quote(strings.Join(p.o.Command, " ")) }

// Err returns the first failure, or nil.
func (p *Program) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// fail records err unless an earlier failure is recorded.
func (p *Program) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	return p.err
}

// CallCounts returns the number of answers, and of recipes scored.
func (p *Program) CallCounts() (calls, recipes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.recipes
}

// Close ends the running programs: it closes their input, and kills those that still run a second later. All later
// scores fail.
func (p *Program) Close() error {
	p.mu.Lock()
	p.closed = true
	if p.err == nil {
		p.err = errClosed
	}
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var g sync.WaitGroup
	for _, q := range idle {
		g.Go(q.stop)
	}
	g.Wait()
	return nil
}

// acquire takes an idle process or starts a new one. It fails after any earlier failure.
func (p *Program) acquire() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	if n := len(p.idle); n > 0 {
		q := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return q, nil
	}
	return startProcess(p.path, &p.o)
}

// release returns a process to the idle ones and counts its call and the recipes it has scored. After Close it stops
// the process.
func (p *Program) release(q *process, recipes int) {
	p.mu.Lock()
	p.calls++
	p.recipes += int64(recipes)
	if !p.closed {
		p.idle = append(p.idle, q)
		q = nil
	}
	p.mu.Unlock()
	if q != nil {
		q.stop()
	}
}

func (p *Program) mayRestart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restarts++
	return p.restarts <= maxRestarts
}

// appendRecipe appends the composition, with the values of its conditions, as a JSON object to line.
func (p *Program) appendRecipe(line []byte, parts []mcmc.Part, values []int32) []byte {
	line = append(line, '{')
	for k, part := range parts {
		if k > 0 {
			line = append(line, ',')
		}
		line = append(line, p.keys[part.Ingredient]...)
		line = strconv.AppendInt(line, int64(part.Amount), 10)
	}
	for c, v := range values {
		if line[len(line)-1] != '{' {
			line = append(line, ',')
		}
		line = append(line, p.conditions[c][v]...)
	}
	return append(line, '}')
}

// LogScore returns log y(x), or NaN if the program fails; see [Program.Err].
func (p *Program) LogScore(x *mcmc.Composition) float64 {
	var of recipeBuffer
	of.add(p.appendRecipe(nil, x.Parts(), x.AppendConditions(nil)))
	logs, err := p.scores(nil, &of)
	if err != nil {
		return math.NaN()
	}
	return logs[0]
}

// Batch returns the number of candidates to draw and score in one request.
func (p *Program) Batch() int { return p.o.Batch }

// Prefetch scores the compositions in one request, so that LogScore finds the scores in the memo. LogScore reports
// any failure.
func (p *Program) Prefetch(xs []*mcmc.Composition) {
	var of recipeBuffer
	for _, x := range xs {
		of.add(p.appendRecipe(of.buffer(), x.Parts(), x.AppendConditions(nil)))
	}
	_, _ = p.scores(nil, &of) // the error is kept in p.err, and every later score is NaN
}

// Scorer returns a scorer of x.
func (p *Program) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &programScorer{property: p, x: x, i: -1, condition: -1}
}

type programScorer struct {
	property *Program
	x        *mcmc.Composition

	scoreKnown bool // whether score is the log score of x as it is
	score      float64

	// i and j are the ingredients of the line that the last request scored, and logs its splits. i is −1 if x has
	// moved since.
	i, j int
	logs []float64

	// condition is the one whose values the last request scored, by value in valueLogs. It is −1 if x has changed since.
	condition int
	valueLogs []float64

	// The next fields are scratch of askSplits.
	splits  []int     // splits whose scores are to be requested
	answers []float64 // log scores of one request
	recipes recipeBuffer
	parts   []mcmc.Part
	others  []mcmc.Part
	values  []int32
}

// Err returns the program's failure, or nil.
func (s *programScorer) Err() error { return s.property.Err() }

func (s *programScorer) Reset() { s.scoreKnown, s.i, s.condition = false, -1, -1 }

func (s *programScorer) LogScore() float64 {
	if !s.scoreKnown {
		s.score = s.property.LogScore(s.x)
		s.scoreKnown = true
	}
	return s.score
}

// appendSplit sets s.parts to the composition at split k of the line of i and j, which share sum units, and returns
// it. The parts are in the order of ingredients, as in all requests, so that equal compositions have equal text.
func (s *programScorer) appendSplit(i, j, k, sum int) []mcmc.Part {
	s.parts = s.parts[:0]
	a, b := mcmc.Part{Ingredient: i, Amount: k}, mcmc.Part{Ingredient: j, Amount: sum - k}
	if j < i {
		a, b = b, a
	}
	put := func(p mcmc.Part) {
		if p.Amount > 0 {
			s.parts = append(s.parts, p)
		}
	}
	rest := s.others
	for len(rest) > 0 && rest[0].Ingredient < a.Ingredient {
		put(rest[0])
		rest = rest[1:]
	}
	put(a)
	for len(rest) > 0 && rest[0].Ingredient < b.Ingredient {
		put(rest[0])
		rest = rest[1:]
	}
	put(b)
	s.parts = append(s.parts, rest...)
	return s.parts
}

// askSplits requests the log scores of the splits of i and j where wanted is not −Inf, and puts them in s.logs.
// Other splits get −Inf. After a failure all splits without an answer get NaN.
func (s *programScorer) askSplits(i, j int, wanted *mcmc.Pieces) {
	s.i, s.j, s.logs = i, j, s.logs[:0]
	sum := s.x.Amount(i) + s.x.Amount(j)
	s.others = s.x.AppendParts(s.others[:0])
	s.others = slices.DeleteFunc(s.others, func(p mcmc.Part) bool { return p.Ingredient == i || p.Ingredient == j })
	s.values = s.x.AppendConditions(s.values[:0])
	s.splits = s.splits[:0]
	for q := range wanted.Len() {
		from, value := wanted.Piece(q)
		to := sum + 1
		if q+1 < wanted.Len() {
			to, _ = wanted.Piece(q + 1)
		}
		for k := from; k < to; k++ {
			s.logs = append(s.logs, math.Inf(-1))
			if !math.IsInf(value, -1) {
				s.splits = append(s.splits, k)
			}
		}
	}
	for left := s.splits; len(left) > 0; {
		now := left[:min(len(left), maxRecipes)]
		s.recipes.reset()
		for _, k := range now {
			s.recipes.add(s.property.appendRecipe(s.recipes.buffer(), s.appendSplit(i, j, k, sum), s.values))
		}
		var err error
		if s.answers, err = s.property.scores(s.answers[:0], &s.recipes); err != nil {
			for _, k := range left {
				s.logs[k] = math.NaN()
			}
			return
		}
		for n, k := range now {
			s.logs[k] = s.answers[n]
		}
		left = left[len(now):]
	}
}

func (s *programScorer) Line(i, j int, p *mcmc.Pieces) {
	var all mcmc.Pieces
	all.Add(0, 0)
	s.Splits(i, j, &all, p)
}

// Splits scores the line like Line, but requests only the splits where wanted is not −Inf.
func (s *programScorer) Splits(i, j int, wanted, p *mcmc.Pieces) {
	s.askSplits(i, j, wanted)
	q := joiner{pieces: p}
	for k, log := range s.logs {
		q.add(k, log)
	}
}

func (s *programScorer) Moved(i, j int) {
	if k := s.x.Amount(i); s.i == i && s.j == j && k < len(s.logs) {
		s.score, s.scoreKnown = s.logs[k], true
	} else {
		s.scoreKnown = false
	}
	s.i, s.condition = -1, -1
}

// Values adds the score of each value of condition c to p, by one request.
func (s *programScorer) Values(c int, p *mcmc.Pieces) {
	s.parts, s.values = s.x.AppendParts(s.parts[:0]), s.x.AppendConditions(s.values[:0])
	s.recipes.reset()
	for v := range s.property.conditions[c] {
		s.values[c] = int32(v)
		s.recipes.add(s.property.appendRecipe(s.recipes.buffer(), s.parts, s.values))
	}
	s.condition = c
	var err error
	if s.valueLogs, err = s.property.scores(s.valueLogs[:0], &s.recipes); err != nil {
		s.condition = -1
		p.Add(0, math.NaN())
		return
	}
	q := joiner{pieces: p}
	for v, log := range s.valueLogs {
		q.add(v, log)
	}
}

// ConditionSet takes over the new value of condition c.
func (s *programScorer) ConditionSet(c int) {
	if s.scoreKnown = s.condition == c; s.scoreKnown {
		s.score = s.valueLogs[s.x.Condition(c)]
	}
	s.i, s.condition = -1, -1
}
