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

// Program scores compositions by an external program:
//
//	y(x) = the answer of the external program for x, a finite number of at least 0
//
// The program reads lines from its standard input and answers each line with a line on its standard output.
// Each input line is a JSON array of recipes. A recipe is an object with the units of the used ingredients. The
// answer is a JSON array of the scores, in the order of the recipes:
//
//	[{"Gin":600,"Lime juice":400},{"Gin":601,"Lime juice":399}]
//	[0.25,0.75]
//
// The value of each condition, a number or a text, follows the amounts: {"Gin":600,"Ice":400,"temperature":4}.
//
// An array combines the requests of all Markov chains that wait at the time. A chain requests the scores of all
// divisions of the joint amount of two ingredients, or of several candidate recipes. An array has at most 4,096
// recipes. A request for more recipes takes several arrays. The program must always give a recipe the same
// score, whatever other recipes it was sent. Therefore kir does not ask again for a score that it remembers.
// When the run ends, kir closes the input of the program. The environment variable KIR_TOTAL holds M, and
// KIR_INGREDIENTS holds a JSON array of the ingredients, if this array has at most 32 KiB.
//
// The program starts at the first request, and up to Processes instances run at once. If an instance ends
// before it has answered, kir starts one more instance and asks again. A second end, an answer that takes
// longer than Timeout, or an invalid answer ends the run with an error that quotes the answer. Close ends all
// running instances.
//
// The program runs with the rights of the user and may do what the user may do.
type Program struct {
	options        ProgramOptions
	executable     string
	ingredientKeys [][]byte // item i is the JSON text `"name":` with the name of ingredient i

	conditionTexts [][][]byte // conditionTexts[c][v] is the JSON text `"name":value` for value v of condition c

	processSemaphore chan struct{} // semaphore: a chain holds one of its tokens while it uses a process; the capacity is Processes
	requestQueued    chan struct{} // signal to a chain in waitForMoreRequests that a request has been queued

	mu               sync.Mutex
	idleProcesses    []*programProcess
	queuedRequests   []*request    // requests not yet sent to a process
	pendingRequests  int           // number of requests without an answer, queued or sent
	expectedRequests int           // estimate of how many chains send requests at about the same time
	meanCallTime     time.Duration // estimate of the mean time that the external program takes for an answer
	scoreMemo        scoreCache
	callCount        int64 // number of input lines that the program has answered
	recipeCount      int64 // number of recipes that the program has scored
	restartCount     int
	firstError       error // first failure of the external program; once set, all scores are NaN
	isClosed         bool
}

var _ mcmc.BatchProperty = (*Program)(nil)

// ProgramOptions says which external program scores recipes, and how it is run.
type ProgramOptions struct {
	Command     []string // program and its arguments, which are run without a shell
	Dir         string   // working directory of the program, and base of a relative path to the program
	Ingredients []string
	Conditions  []ProgramCondition // conditions whose values the program gets, in the order of the conditions of the compositions
	Total       int
	Timeout     time.Duration // time limit of one answer, above 0
	Processes   int           // greatest number of processes of the program that run at once, at least 1
	Batch       int           // number of candidates that one iteration of a chain draws and scores in one request, at least 1
	// BeforeStart is called before each start of the program. If it returns an error, the program is not started and
	// the run ends. BeforeStart may be nil.
	BeforeStart func() error
	// Warn receives warnings for the user. It is called from several goroutines, and may be nil.
	Warn func(message string)
}

// A ProgramCondition holds the name and the values of a condition, as kir writes them to the external program.
type ProgramCondition struct {
	Name   string
	Values []any // values of the condition, each a finite float64 or a string
}

const (
	maxRecipesPerLine = 4096 // greatest number of recipes that are sent to an external program in one line of input
	maxRestarts       = 20   // greatest number of times that an external program is started again after it has ended too early
)

// errClosed is the error of every score that is requested after [Program.Close].
var errClosed = errors.New("the program has been closed")

// NewProgram returns a [Program]. The program itself starts at the first request, but NewProgram fails if the
// executable does not exist.
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
	p := &Program{options: o, executable: path, processSemaphore: make(chan struct{}, o.Processes), requestQueued: make(chan struct{}, 1)}
	p.options.Command = slices.Clone(o.Command)
	for _, name := range o.Ingredients {
		p.ingredientKeys = append(p.ingredientKeys, append(quoteJSON(name), ':'))
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
		p.conditionTexts = append(p.conditionTexts, values)
	}
	return p, nil
}

// FindProgram returns the path of an executable. The argument name is its name, or its path relative to dir.
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

// quotedCommand returns the command of the external program in quotes, for messages.
func (p *Program) quotedCommand() string { return inputerr.Quote(strings.Join(p.options.Command, " ")) }

// Err returns the first failure of the external program, or nil.
func (p *Program) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.firstError
}

// recordFailure stores err as the first failure of the external program. If a failure is already stored,
// recordFailure keeps the stored failure. It returns the stored failure.
func (p *Program) recordFailure(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.firstError == nil {
		p.firstError = err
	}
	return p.firstError
}

// CallCounts returns two numbers: the input lines that the external program has answered, and the recipes that
// it has scored.
func (p *Program) CallCounts() (calls, recipes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.callCount, p.recipeCount
}

// Close ends all running instances of the external program. It closes their input, and after a second kills
// each instance that still runs. Scores requested later are NaN.
func (p *Program) Close() error {
	p.mu.Lock()
	p.isClosed = true
	if p.firstError == nil {
		p.firstError = errClosed
	}
	idle := p.idleProcesses
	p.idleProcesses = nil
	p.mu.Unlock()
	var g sync.WaitGroup
	for _, q := range idle {
		g.Go(q.stop)
	}
	g.Wait()
	return nil
}

// acquireProcess takes an idle process of the external program, or starts a new process. It returns an error if
// the program has failed before.
func (p *Program) acquireProcess() (*programProcess, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.firstError != nil {
		return nil, p.firstError
	}
	if n := len(p.idleProcesses); n > 0 {
		q := p.idleProcesses[n-1]
		p.idleProcesses = p.idleProcesses[:n-1]
		return q, nil
	}
	return startProcess(p.executable, &p.options)
}

// releaseProcess makes the process idle again, or stops it if [Program.Close] was called. In both cases it
// counts one call, and the recipes that the process has scored in this call.
func (p *Program) releaseProcess(process *programProcess, recipes int) {
	p.mu.Lock()
	p.callCount++
	p.recipeCount += int64(recipes)
	if !p.isClosed {
		p.idleProcesses = append(p.idleProcesses, process)
		process = nil
	}
	p.mu.Unlock()
	if process != nil {
		process.stop()
	}
}

// countRestart counts one more restart of the external program and reports whether this restart is allowed.
func (p *Program) countRestart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restartCount++
	return p.restartCount <= maxRestarts
}

// appendRecipe appends to line the JSON object of a recipe: the amounts of the parts, then the values of the
// conditions. values[c] is the index of the value of condition c.
func (p *Program) appendRecipe(line []byte, parts []mcmc.Part, values []int32) []byte {
	line = append(line, '{')
	for k, part := range parts {
		if k > 0 {
			line = append(line, ',')
		}
		line = append(line, p.ingredientKeys[part.Ingredient]...)
		line = strconv.AppendInt(line, int64(part.Amount), 10)
	}
	for c, v := range values {
		if line[len(line)-1] != '{' {
			line = append(line, ',')
		}
		line = append(line, p.conditionTexts[c][v]...)
	}
	return append(line, '}')
}

// LogScore returns the natural logarithm of the score of the composition x. It returns NaN if the external
// program fails; see [Program.Err].
func (p *Program) LogScore(x *mcmc.Composition) float64 {
	var of recipeBuffer
	of.finishRecipe(p.appendRecipe(nil, x.Parts(), x.AppendConditions(nil)))
	logs, err := p.appendLogScores(nil, &of)
	if err != nil {
		return math.NaN()
	}
	return logs[0]
}

// Batch returns the number of candidates that one iteration of a chain draws and scores in one request.
func (p *Program) Batch() int { return p.options.Batch }

// Prefetch scores the compositions in one request to the external program and keeps the scores in a cache for
// LogScore. If the request fails, later calls of LogScore return NaN.
func (p *Program) Prefetch(xs []*mcmc.Composition) {
	var of recipeBuffer
	for _, x := range xs {
		of.finishRecipe(p.appendRecipe(of.appendableText(), x.Parts(), x.AppendConditions(nil)))
	}
	_, _ = p.appendLogScores(nil, &of) // the error is kept in p.firstError, and every later score is NaN
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (p *Program) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &programScorer{property: p, x: x, lineI: -1, scoredCondition: -1}
}

type programScorer struct {
	property *Program
	x        *mcmc.Composition

	scoreKnown bool // whether logScore is the log score of the present composition
	logScore   float64

	// lineI and lineJ are the ingredients whose joint amount was divided in the last request. lineI is −1 if no
	// such request is still valid for the present composition.
	lineI, lineJ int
	// lineLogs[k] is the log score if ingredient lineI has k units of the joint amount of lineI and lineJ.
	lineLogs []float64

	// scoredCondition is the index of the condition whose values the last request scored. It is −1 if no such
	// request is still valid for the present composition.
	scoredCondition int
	// valueLogs[v] is the log score of the composition with value v of the scored condition.
	valueLogs []float64

	wantedSplits    []int     // scratch of askSplits: the units of ingredient i for which scores are requested
	answeredLogs    []float64 // scratch of askSplits: log scores of one request
	requestBuffer   recipeBuffer
	parts           []mcmc.Part
	otherParts      []mcmc.Part
	conditionValues []int32
}

// Err returns the first failure of the external program, or nil.
func (s *programScorer) Err() error { return s.property.Err() }

func (s *programScorer) Reset() { s.scoreKnown, s.lineI, s.scoredCondition = false, -1, -1 }

func (s *programScorer) LogScore() float64 {
	if !s.scoreKnown {
		s.logScore = s.property.LogScore(s.x)
		s.scoreKnown = true
	}
	return s.logScore
}

// setSplitParts sets s.parts to the present composition, but with k units of ingredient i and sum−k units of
// ingredient j. It returns s.parts. The parts are in the order of ingredients, as in all requests, so that
// equal compositions have equal text.
func (s *programScorer) setSplitParts(i, j, k, sum int) []mcmc.Part {
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
	rest := s.otherParts
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

// askSplits requests the log scores of the divisions (splits) of the joint amount of ingredients i and j for
// which the function wanted is not −Inf. It stores the log scores in s.lineLogs. All other splits get −Inf.
// After a failure the splits without an answer get NaN.
func (s *programScorer) askSplits(i, j int, wanted *mcmc.PiecewiseConstant) {
	s.lineI, s.lineJ, s.lineLogs = i, j, s.lineLogs[:0]
	sum := s.x.Amount(i) + s.x.Amount(j)
	s.otherParts = s.x.AppendParts(s.otherParts[:0])
	s.otherParts = slices.DeleteFunc(s.otherParts, func(p mcmc.Part) bool { return p.Ingredient == i || p.Ingredient == j })
	s.conditionValues = s.x.AppendConditions(s.conditionValues[:0])
	s.wantedSplits = s.wantedSplits[:0]
	for q := range wanted.Len() {
		from, value := wanted.Piece(q)
		to := sum + 1
		if q+1 < wanted.Len() {
			to, _ = wanted.Piece(q + 1)
		}
		for k := from; k < to; k++ {
			s.lineLogs = append(s.lineLogs, math.Inf(-1))
			if !math.IsInf(value, -1) {
				s.wantedSplits = append(s.wantedSplits, k)
			}
		}
	}
	for left := s.wantedSplits; len(left) > 0; {
		now := left[:min(len(left), maxRecipesPerLine)]
		s.requestBuffer.reset()
		for _, k := range now {
			s.requestBuffer.finishRecipe(s.property.appendRecipe(s.requestBuffer.appendableText(), s.setSplitParts(i, j, k, sum), s.conditionValues))
		}
		var err error
		if s.answeredLogs, err = s.property.appendLogScores(s.answeredLogs[:0], &s.requestBuffer); err != nil {
			for _, k := range left {
				s.lineLogs[k] = math.NaN()
			}
			return
		}
		for n, k := range now {
			s.lineLogs[k] = s.answeredLogs[n]
		}
		left = left[len(now):]
	}
}

func (s *programScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	var all mcmc.PiecewiseConstant
	all.Add(0, 0)
	s.Splits(i, j, &all, p)
}

// Splits adds to p the log scores of the divisions (splits) of the joint amount of ingredients i and j. It
// requests scores only for the splits for which the function wanted is not −Inf.
func (s *programScorer) Splits(i, j int, wanted, p *mcmc.PiecewiseConstant) {
	s.askSplits(i, j, wanted)
	q := pieceJoiner{pieces: p}
	for k, log := range s.lineLogs {
		q.add(k, log)
	}
}

func (s *programScorer) Moved(i, j int) {
	if k := s.x.Amount(i); s.lineI == i && s.lineJ == j && k < len(s.lineLogs) {
		s.logScore, s.scoreKnown = s.lineLogs[k], true
	} else {
		s.scoreKnown = false
	}
	s.lineI, s.scoredCondition = -1, -1
}

// Values adds to p the log score of the composition with each value of condition c. It requests all these
// scores at once.
func (s *programScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	s.parts, s.conditionValues = s.x.AppendParts(s.parts[:0]), s.x.AppendConditions(s.conditionValues[:0])
	s.requestBuffer.reset()
	for v := range s.property.conditionTexts[c] {
		s.conditionValues[c] = int32(v)
		s.requestBuffer.finishRecipe(s.property.appendRecipe(s.requestBuffer.appendableText(), s.parts, s.conditionValues))
	}
	s.scoredCondition = c
	var err error
	if s.valueLogs, err = s.property.appendLogScores(s.valueLogs[:0], &s.requestBuffer); err != nil {
		s.scoredCondition = -1
		p.Add(0, math.NaN())
		return
	}
	q := pieceJoiner{pieces: p}
	for v, log := range s.valueLogs {
		q.add(v, log)
	}
}

// ConditionSet updates the scorer after the value of condition c of the composition has changed.
func (s *programScorer) ConditionSet(c int) {
	if s.scoreKnown = s.scoredCondition == c; s.scoreKnown {
		s.logScore = s.valueLogs[s.x.Condition(c)]
	}
	s.lineI, s.scoredCondition = -1, -1
}
