// Package campaign keeps experiments that come in rounds: results in, the next batch
// of recipes out, and where it all stands.
//
// A campaign is a problem, a file of results beside it and a seed: all else follows
// from these three. [Open] reads them, [Campaign.Record] adds results, [Campaign.Next]
// chooses a batch and [Campaign.ComputeStanding] says how far the campaign is. The package knows
// nothing of the command line.
//
// # How a batch is chosen
//
// Models of what was measured (see [Surrogate]) give draws of what each recipe would
// come to, jointly for all recipes that are looked at. A batch is put together one
// recipe at a time: the one that, averaged over the draws, adds most to the best of
// those that were chosen before and of what was tried (the expected improvement of a
// batch; Ginsbourger, Le Riche and Carraro 2010). Where nothing has been learnt yet a
// batch fills the space.
package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/file"
	"kir/internal/problem"
	"kir/mcmc"
)

// A Campaign is a problem with what was tried and what is to be tried.
type Campaign struct {
	Problem *problem.Problem
	Batches []*Batch // that were made, by round

	path        string // of the problem file
	trials      []trial
	firstResult int // index of the first trial that the results have; those before are the book's
}

// A trial is a recipe that was made, or that was tried and failed. It has the index of
// its recipe in the problem's book.
type trial struct {
	id     string
	round  int
	parts  []mcmc.Part // by ingredient
	key    string
	failed bool
	broken []problem.Breach
}

// Open reads the campaign of a problem. What is wrong in its files is a [fault.Error].
func Open(ctx context.Context, path string, o problem.Options) (c *Campaign, err error) {
	o.Campaign = true
	p, err := problem.Load(ctx, path, o)
	if err != nil {
		return nil, err
	}
	c = &Campaign{Problem: p, path: path}
	if err := c.loadHistory(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return c, nil
}

// Close ends what the problem has running.
func (c *Campaign) Close() error { return c.Problem.Close() }

// loadHistory takes in what was tried, and the batches.
func (c *Campaign) loadHistory() error {
	p := c.Problem
	known, err := p.KnownRecipes()
	if err != nil {
		return err
	}
	var current []book.Result
	if r := p.Results(); r != nil {
		current = r.Current()
	}
	c.firstResult = len(known) - len(current)
	for k, x := range known {
		t := trial{id: p.Book.Recipes[k].Name, parts: sortParts(x.Parts())}
		if k >= c.firstResult {
			e := current[k-c.firstResult]
			t.id, t.round, t.failed = e.ID, e.Round, e.Status == book.Failed
		}
		t.key = recipeKey(t.parts)
		if t.broken, err = p.BrokenRules(t.parts); err != nil {
			return err
		}
		c.trials = append(c.trials, t)
	}
	if err := c.readFailures(); err != nil {
		return err
	}
	if err := c.readBatches(); err != nil {
		return err
	}
	last := c.Round()
	for k := range c.trials {
		t := &c.trials[k]
		if e := c.entry(t.id); e != nil && k >= c.firstResult {
			t.round = e.round
		}
		t.round = min(t.round, last)
	}
	return nil
}

// readFailures finds the trials that failed by the value of a label that is learnt.
func (c *Campaign) readFailures() error {
	for _, w := range c.Problem.Properties {
		if c.Problem.Book == nil || w.Learning == nil || !w.Learning.Numeric {
			continue
		}
		l, ok := c.Problem.Book.Label(w.Learning.Label)
		if !ok || len(l.Classes) == 0 {
			continue
		}
		_, failed, err := w.Learning.Measured(l)
		if err != nil {
			return err
		}
		for k := range c.trials {
			c.trials[k].failed = c.trials[k].failed || failed[k]
		}
	}
	return nil
}

// batchPath returns where a batch is kept: as it was made, or as a table to fill in.
func (c *Campaign) batchPath(round int, ending string) string {
	return problem.SiblingPath(c.path, fmt.Sprintf("batch-%03d.%s", round, ending))
}

// TablePath returns where the table of a batch is, unless it is put elsewhere.
func (c *Campaign) TablePath(round int) string { return c.batchPath(round, "csv") }

// readBatches reads the batches that were kept.
func (c *Campaign) readBatches() error {
	dir, base := filepath.Split(problem.SiblingPath(c.path, "batch-"))
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), base)
		number, ends := strings.CutSuffix(text, ".json")
		round, err := strconv.Atoi(number)
		if !ok || !ends || err != nil || round < 1 || round > mostRound || c.batchPath(round, "json") != dir+e.Name() {
			continue
		}
		b, err := c.readBatch(round)
		if err != nil {
			return err
		}
		c.Batches = append(c.Batches, b)
	}
	slices.SortFunc(c.Batches, func(a, b *Batch) int { return a.Round - b.Round })
	return nil
}

// mostRound bounds the numbers of batches, so that ids have them.
const mostRound = 999_999_999

// mostBytes is how long a file of results or a batch may be.
const mostBytes = 64 << 20

// readBatch reads one batch.
func (c *Campaign) readBatch(round int) (*Batch, error) {
	path := c.batchPath(round, "json")
	text, err := file.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	return c.parseBatch(text, path, round)
}

// parseBatch reads a batch from the text of its file.
func (c *Campaign) parseBatch(text []byte, path string, round int) (*Batch, error) {
	b := new(Batch)
	err := json.Unmarshal(text, b)
	if err == nil {
		_, err = book.ParseAmount(b.Measure.Size)
	}
	if err != nil || b.Round != round || b.Total < 1 || b.Measure.Decimals < 0 || b.Measure.Decimals > mostDecimals {
		return nil, &fault.Error{File: path, Message: "this is no batch that kir next wrote", Hint: "restore it, or remove it: what it offered may then be offered again", Err: err}
	}
	for k := range b.Entries {
		b.Entries[k].round, b.Entries[k].measure = b.Round, b.Measure
		if err := c.resolveEntry(&b.Entries[k]); err != nil {
			return nil, &fault.Error{File: path, Message: err.Error(), Hint: "restore the ingredients and the total, or remove the batch: what it offered may then be offered again"}
		}
	}
	return b, nil
}

// resolveEntry works out where an entry of a batch is on the lattice.
func (c *Campaign) resolveEntry(e *Entry) error {
	sum := 0
	e.parts = nil
	for name, amount := range e.Recipe {
		i := slices.Index(c.Problem.Ingredients, name)
		if i < 0 {
			return fmt.Errorf("%s of the batch has %s, which is no ingredient of the problem", e.ID, fault.Quote(name))
		}
		if amount < 1 || amount > c.Problem.Total {
			return fmt.Errorf("%s of the batch has %d of %s", e.ID, amount, fault.Quote(name))
		}
		e.parts = append(e.parts, mcmc.Part{Ingredient: i, Amount: amount})
		sum += amount
	}
	if sum != c.Problem.Total {
		return fmt.Errorf("%s of the batch has %s, and the problem a total of %d", e.ID, fault.Count(sum, "unit"), c.Problem.Total)
	}
	e.parts = sortParts(e.parts)
	e.key = recipeKey(e.parts)
	return nil
}

// sortParts returns parts by ingredient.
func sortParts(parts []mcmc.Part) []mcmc.Part {
	slices.SortFunc(parts, func(a, b mcmc.Part) int { return a.Ingredient - b.Ingredient })
	return parts
}

// recipeKey names a recipe on the lattice; its parts are by ingredient.
func recipeKey(parts []mcmc.Part) string {
	key := make([]byte, 0, 8*len(parts))
	for _, p := range parts {
		key = append(strconv.AppendInt(key, int64(p.Ingredient), 10), ':')
		key = append(strconv.AppendInt(key, int64(p.Amount), 10), ' ')
	}
	return string(key)
}

// Round returns the number of the last round: that of the last batch or, where batches are
// gone, of the results that follow each other from there. A number that somebody gave a
// result counts for nothing.
func (c *Campaign) Round() int {
	round := 0
	for _, b := range c.Batches {
		round = max(round, b.Round)
	}
	r := c.Problem.Results()
	if r == nil {
		return round
	}
	in := make(map[int]bool)
	for _, e := range r.Entries {
		in[e.Round] = true
		if of, _, ok := book.ParseID(e.ID); ok {
			in[of] = true
		}
	}
	for in[round+1] {
		round++
	}
	return round
}

// Result returns the last entry of an id among the results.
func (c *Campaign) Result(id string) (book.Result, bool) {
	if r := c.Problem.Results(); r != nil {
		return r.Last(id)
	}
	return book.Result{}, false
}

// IsPending says whether a recipe of a batch has no result yet and is not withdrawn.
func (c *Campaign) IsPending(id string) bool {
	return slices.ContainsFunc(c.pending(), func(e *Entry) bool { return e.ID == id })
}

// CountOwnResults returns how many of the results are of recipes that no batch has.
func (c *Campaign) CountOwnResults() int {
	own := 0
	for _, t := range c.trials[c.firstResult:] {
		if c.entry(t.id) == nil {
			own++
		}
	}
	return own
}

// HasBegun says whether there is a batch or a result.
func (c *Campaign) HasBegun() bool { return len(c.Batches) > 0 || len(c.trials) > c.firstResult }

// IsNumeric says whether a label is to be a number.
func (c *Campaign) IsNumeric(label string) bool { return c.isNumeric(label) }

// pending returns the entries of batches that have no result yet and are not withdrawn.
func (c *Campaign) pending() []*Entry {
	tried := make(map[string]bool)
	for _, t := range c.trials {
		tried[t.key] = true
	}
	var pending []*Entry
	for _, b := range c.Batches {
		for k := range b.Entries {
			e := &b.Entries[k]
			if _, known := c.Result(e.ID); !known && (!tried[e.key] || e.Reason.Kind == Replicate) {
				pending = append(pending, e)
			}
		}
	}
	return pending
}

// withdrawnRecipes returns the recipes that were withdrawn before anything came of them: they are
// not offered again.
func (c *Campaign) withdrawnRecipes() map[string]bool {
	up := make(map[string]bool)
	r := c.Problem.Results()
	if r == nil {
		return up
	}
	came := make(map[string]bool) // whether anything but a withdrawal was recorded, by id
	for _, e := range r.Entries {
		key := book.IDKey(e.ID)
		came[key] = came[key] || e.Status != book.Withdrawn
	}
	for _, b := range c.Batches {
		for k := range b.Entries {
			if any, known := came[book.IDKey(b.Entries[k].ID)]; known && !any {
				up[b.Entries[k].key] = true
			}
		}
	}
	return up
}

// entry returns the entry of an id among the batches; nil if there is none.
func (c *Campaign) entry(id string) *Entry {
	key := book.IDKey(id)
	for _, b := range c.Batches {
		for k := range b.Entries {
			if book.IDKey(b.Entries[k].ID) == key {
				return &b.Entries[k]
			}
		}
	}
	return nil
}

// HasID says whether an id is of a batch or among the results.
func (c *Campaign) HasID(id string) bool {
	id = book.NormalizeName(id)
	_, recorded := c.Result(id)
	return recorded || c.entry(id) != nil
}

// IsID says whether a text has the form of ids that batches give, such as B3-1.
func IsID(text string) bool {
	_, _, is := book.ParseID(text)
	return is
}

// NoRecipeError is the error of a recipe that is none.
func (c *Campaign) NoRecipeError(id string) error {
	return &fault.Error{Message: fmt.Sprintf("there is no file and no recipe %s", fault.Quote(id)), Hint: c.pendingIDsHint()}
}

// Labels returns the labels that a result may have: those that are measured and those of
// the known recipes.
func (c *Campaign) Labels() []string {
	names := c.measuredLabels()
	if c.Problem.Book != nil {
		for _, l := range c.Problem.Book.Labels {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

// measuredLabels returns the labels that are measured: those that are to be learnt, those that
// the problem names, and those that the results have.
func (c *Campaign) measuredLabels() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, w := range c.Problem.Properties {
		if w.Learning != nil {
			add(w.Learning.Label)
		}
	}
	for _, name := range c.Problem.Labels {
		add(name)
	}
	if r := c.Problem.Results(); r != nil {
		for _, name := range r.Labels {
			add(name)
		}
	}
	return names
}

// isNumeric says whether a label is to be a number.
func (c *Campaign) isNumeric(label string) bool {
	return slices.ContainsFunc(c.Problem.Properties, func(w problem.Property) bool {
		return w.Learning != nil && w.Learning.Label == label && w.Learning.Numeric
	})
}

// isSpreadLabel says whether a label has the standard deviations of another.
func (c *Campaign) isSpreadLabel(label string) bool {
	return slices.ContainsFunc(c.Problem.Properties, func(w problem.Property) bool { return w.Learning != nil && w.Learning.SD == label })
}

// isFailureValue says whether a value of a label that is to be a number says that a trial failed.
func (c *Campaign) isFailureValue(label, value string) bool {
	return book.IsFailure(value) || slices.ContainsFunc(c.Problem.Properties, func(w problem.Property) bool {
		return w.Learning != nil && w.Learning.Label == label && w.Learning.Failures != nil && slices.Contains(*w.Learning.Failures, value)
	})
}

// isNotExist reports whether an error is that a file is not there.
func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
