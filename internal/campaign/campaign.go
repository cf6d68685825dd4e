// Package campaign runs experiments in rounds. It records results, chooses the next batch of
// recipes and reports the standing of the campaign.
//
// A campaign is a problem, a file of results beside it and a seed. Everything else is computed
// from these three. [Open] reads them and [Campaign.Record] adds results. [Campaign.Next]
// chooses a batch and [Campaign.ComputeStanding] reports the standing. The package does not
// depend on the command line.
//
// # How a batch is chosen
//
// Models of the measured labels (see [Surrogate]) give random draws of the values of recipes, jointly
// for all candidates. A batch is chosen one recipe at a time. In each draw, the gain of a candidate
// is how much its value exceeds the best value of the recipes that were tried or already chosen.
// The candidate with the greatest mean gain is added to the batch. This is the expected improvement
// of a batch (Ginsbourger, Le Riche and Carraro 2010). As long as nothing has been learnt, a batch
// has recipes that are far from each other.
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

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/mcmc"
)

// A Campaign is a problem together with the trials made and the batches chosen so far.
type Campaign struct {
	Problem *compile.Problem // the formulation problem, with its known recipes and results
	Batches []*Batch         // all stored batches, in order of their rounds

	entriesByID      map[string]*Entry // maps the key of an id to the recipe of a batch with the id; see [dataset.IDKey]
	problemPath      string            // path of the problem file
	trials           []trial           // trials in the order of the recipes in the problem's table; trials[k] is recipe k
	firstResultTrial int               // index of the first trial that was recorded as a result; the trials before it come from the table of known recipes
}

// A trial is a recipe that was made, or that somebody tried to make without success.
type trial struct {
	id    string // id of the recipe that was made
	round int    // number of the round in which the trial was made; 0 for a trial before the first batch
	recipe
	conditionSetting compile.Setting  // values of the conditions at which the trial was made
	key              string           // text that identifies the amounts and conditions of the recipe; see [recipe.key]
	failed           bool             // whether the attempt to make the recipe failed
	brokenRules      []compile.Breach // rules of the problem that the recipe breaks
}

// Open reads the problem file at path and the other files of the campaign, which lie beside the
// problem file. If a file has an error, Open returns an [inputerr.Error].
func Open(ctx context.Context, path string, o compile.Options) (c *Campaign, err error) {
	o.Campaign = true
	p, err := compile.Load(ctx, path, o)
	if err != nil {
		return nil, err
	}
	c = &Campaign{Problem: p, problemPath: path}
	if err := c.loadHistory(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return c, nil
}

// Close stops the helper processes that were started for the problem.
func (c *Campaign) Close() error { return c.Problem.Close() }

// loadHistory reads all trials and all stored batches.
func (c *Campaign) loadHistory() error {
	if err := c.loadTrials(); err != nil {
		return err
	}
	if err := c.readAllBatches(); err != nil {
		return err
	}
	last := c.Round()
	for k := range c.trials {
		t := &c.trials[k]
		if e := c.findEntry(t.id); e != nil && k >= c.firstResultTrial {
			t.round = e.round
		}
		t.round = min(t.round, last)
	}
	return nil
}

// loadTrials makes a trial of each known recipe of the problem, and of each recorded result.
func (c *Campaign) loadTrials() error {
	p := c.Problem
	known, err := p.KnownRecipes()
	if err != nil {
		return err
	}
	var current []dataset.Result
	if r := p.Results(); r != nil {
		current = r.CurrentEntries()
	}
	c.firstResultTrial = len(known) - len(current)
	for k, x := range known {
		t := trial{id: p.Book.Recipes[k].Name, conditionSetting: p.KnownSetting(k)}
		t.recipe = recipe{sortParts(x.Parts()), t.conditionSetting.OfferedIndices, t.conditionSetting.Codes}
		if k >= c.firstResultTrial {
			e := current[k-c.firstResultTrial]
			t.id, t.round, t.failed = e.ID, e.Round, e.Status == dataset.StatusFailed
		}
		t.key = t.recipe.key()
		if t.brokenRules, err = p.BrokenRules(t.parts, t.conditionSetting); err != nil {
			return err
		}
		c.trials = append(c.trials, t)
	}
	return c.markFailedTrials()
}

// markFailedTrials marks a trial as failed if the recorded value of a learnt label is a word for
// failure.
func (c *Campaign) markFailedTrials() error {
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

// batchPath returns the path of a file of the batch of a round. The file with the extension json
// stores the batch. The file with the extension csv is the table to fill in.
func (c *Campaign) batchPath(round int, extension string) string {
	return compile.SiblingPath(c.problemPath, fmt.Sprintf("batch-%03d.%s", round, extension))
}

// TablePath returns the default path of a batch's table, in which the user fills in results.
func (c *Campaign) TablePath(round int) string { return c.batchPath(round, "csv") }

// readAllBatches reads all stored batches.
func (c *Campaign) readAllBatches() error {
	dir, base := filepath.Split(compile.SiblingPath(c.problemPath, "batch-"))
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	var all []*Batch
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), base)
		number, ends := strings.CutSuffix(text, ".json")
		round, err := strconv.Atoi(number)
		if !ok || !ends || err != nil || round < 1 || round > maxRound || c.batchPath(round, "json") != dir+e.Name() {
			continue
		}
		b, err := c.readBatch(round)
		if err != nil {
			return err
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *Batch) int { return a.Round - b.Round })
	c.setBatches(all)
	return nil
}

// setBatches sets the batches, in order of their rounds, and the recipes by their ids. If two recipes
// have the same id, the earlier one counts.
func (c *Campaign) setBatches(all []*Batch) {
	c.Batches, c.entriesByID = all, make(map[string]*Entry)
	for _, b := range slices.Backward(all) {
		for k := range slices.Backward(b.Entries) {
			c.entriesByID[dataset.IDKey(b.Entries[k].ID)] = &b.Entries[k]
		}
	}
}

// maxRound is the greatest number that a round may have. The ids of recipes contain the number, and
// the limit keeps the ids short.
const maxRound = 999_999_999

// maxFileBytes is the greatest size, in bytes, of a file of results or of a batch.
const maxFileBytes = 64 << 20

// readBatch reads the stored batch of a round.
func (c *Campaign) readBatch(round int) (*Batch, error) {
	path := c.batchPath(round, "json")
	text, err := file.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	return c.parseBatch(text, path, round)
}

// parseBatch parses and checks the text of a batch's file.
func (c *Campaign) parseBatch(text []byte, path string, round int) (*Batch, error) {
	b := new(Batch)
	err := json.Unmarshal(text, b)
	if err == nil {
		_, err = measure.ParseAmount(b.Measure.WholeAmount)
	}
	if err != nil || b.Round != round || b.Total < 1 || b.Measure.Decimals < 0 || b.Measure.Decimals > maxDecimals {
		return nil, &inputerr.Error{File: path, Message: "this is no batch that kir next wrote", Hint: "restore it, or remove it: what it offered may then be offered again", Err: err}
	}
	for k := range b.Entries {
		b.Entries[k].round, b.Entries[k].measure, b.Entries[k].conditions = b.Round, b.Measure, b.Conditions
		if err := c.resolveEntry(&b.Entries[k]); err != nil {
			return nil, &inputerr.Error{File: path, Message: err.Error(), Hint: "restore the ingredients and the total, or remove the batch: what it offered may then be offered again"}
		}
	}
	return b, nil
}

// resolveEntry looks up the ingredients and conditions that an entry names, checks them against the
// problem and stores the recipe by indices.
func (c *Campaign) resolveEntry(e *Entry) error {
	sum := 0
	e.parts = nil
	for name, amount := range e.Recipe {
		i := slices.Index(c.Problem.Ingredients, name)
		if i < 0 {
			return fmt.Errorf("%s of the batch has %s, which is no ingredient of the problem", e.ID, inputerr.Quote(name))
		}
		if amount < 1 || amount > c.Problem.Total {
			return fmt.Errorf("%s of the batch has %d of %s", e.ID, amount, inputerr.Quote(name))
		}
		e.parts = append(e.parts, mcmc.Part{Ingredient: i, Amount: amount})
		sum += amount
	}
	if sum != c.Problem.Total {
		return fmt.Errorf("%s of the batch has %s, and the problem a total of %d", e.ID, inputerr.Count(sum, "unit"), c.Problem.Total)
	}
	for name := range e.Conditions {
		if !slices.ContainsFunc(c.Problem.Conditions, func(of compile.Condition) bool { return of.Name == name }) {
			return fmt.Errorf("%s of the batch has %s, which is no condition of the problem", e.ID, inputerr.Quote(name))
		}
	}
	var err error
	if e.conditionSetting, err = c.Problem.NamedSetting(e.Conditions); err != nil {
		return fmt.Errorf("%s of the batch: %w", e.ID, err)
	}
	e.recipe = recipe{sortParts(e.parts), e.conditionSetting.OfferedIndices, e.conditionSetting.Codes}
	e.key = e.recipe.key()
	return nil
}

// Round returns the number of the last round, that is, the greatest round of any stored batch.
// Files of later batches may be missing. Round therefore goes on to the next number for as long as
// the next round has results.
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
		if of, _, ok := dataset.ParseRecipeID(e.ID); ok {
			in[of] = true
		}
	}
	for in[round+1] {
		round++
	}
	return round
}

// Result returns the latest recorded result of the recipe with the given id. The bool is false if
// no result was recorded.
func (c *Campaign) Result(id string) (dataset.Result, bool) {
	if r := c.Problem.Results(); r != nil {
		return r.LastEntry(id)
	}
	return dataset.Result{}, false
}

// IsPending reports whether the recipe with the given id is in a batch, has no result yet and was
// not withdrawn.
func (c *Campaign) IsPending(id string) bool {
	return slices.ContainsFunc(c.pendingEntries(), func(e *Entry) bool { return e.ID == id })
}

// CountResultsOutsideBatches returns the number of results whose recipes are in no batch, because
// the user made recipes of their own.
func (c *Campaign) CountResultsOutsideBatches() int {
	own := 0
	for _, t := range c.trials[c.firstResultTrial:] {
		if c.findEntry(t.id) == nil {
			own++
		}
	}
	return own
}

// HasBegun reports whether the campaign has at least one batch or one result.
func (c *Campaign) HasBegun() bool { return len(c.Batches) > 0 || len(c.trials) > c.firstResultTrial }

// IsNumeric reports whether the values of a label must be numbers.
func (c *Campaign) IsNumeric(label string) bool { return c.isNumeric(label) }

// pendingEntries returns the recipes of all batches that have no result yet and were not withdrawn.
func (c *Campaign) pendingEntries() []*Entry {
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

// withdrawnKeys returns the keys of recipes that were withdrawn before they had a result. No batch
// offers a withdrawn recipe again.
func (c *Campaign) withdrawnKeys() map[string]bool {
	up := make(map[string]bool)
	r := c.Problem.Results()
	if r == nil {
		return up
	}
	came := make(map[string]bool) // by id: whether anything except a withdrawal was recorded
	for _, e := range r.Entries {
		key := dataset.IDKey(e.ID)
		came[key] = came[key] || e.Status != dataset.StatusWithdrawn
	}
	for _, b := range c.Batches {
		for k := range b.Entries {
			if any, known := came[dataset.IDKey(b.Entries[k].ID)]; known && !any {
				up[b.Entries[k].key] = true
			}
		}
	}
	return up
}

// findEntry returns the recipe with the given id from the batches, or nil if no batch has the id.
func (c *Campaign) findEntry(id string) *Entry { return c.entriesByID[dataset.IDKey(id)] }

// HasID reports whether a batch or a recorded result has a recipe with the given id.
func (c *Campaign) HasID(id string) bool {
	id = dataset.NormalizeName(id)
	_, recorded := c.Result(id)
	return recorded || c.findEntry(id) != nil
}

// IsID reports whether a text has the form of a recipe id, such as B3-1.
func IsID(text string) bool {
	_, _, is := dataset.ParseRecipeID(text)
	return is
}

// NoRecipeError returns the error for an argument that is neither the name of a file nor the id of
// a recipe.
func (c *Campaign) NoRecipeError(id string) error {
	return &inputerr.Error{Message: fmt.Sprintf("there is no file and no recipe %s", inputerr.Quote(id)), Hint: c.pendingIDsHint()}
}

// ResultLabels returns the names of everything that a result may have a value of: the labels to
// measure, the labels of known recipes and the conditions, in this order.
func (c *Campaign) ResultLabels() []string {
	names := c.measuredLabels()
	if c.Problem.Book != nil {
		for _, l := range c.Problem.Book.Labels {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return append(names, c.ConditionNames()...)
}

// measuredLabels returns the names of the labels to measure: the learnt labels, the labels that the
// problem lists, and the labels of the recorded results.
func (c *Campaign) measuredLabels() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) && c.findCondition(name) == nil {
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

// isNumeric reports whether the values of a label must be numbers.
func (c *Campaign) isNumeric(label string) bool {
	return slices.ContainsFunc(c.Problem.Properties, func(w compile.Property) bool {
		return w.Learning != nil && w.Learning.Label == label && w.Learning.Numeric
	})
}

// isSpreadLabel reports whether the values of a label are standard deviations of the measurements
// of another label.
func (c *Campaign) isSpreadLabel(label string) bool {
	return slices.ContainsFunc(c.Problem.Properties, func(w compile.Property) bool { return w.Learning != nil && w.Learning.SDLabel == label })
}

// isFailureValue reports whether a value of a numeric label is a word for failure, such as
// "failed".
func (c *Campaign) isFailureValue(label, value string) bool {
	return dataset.IsFailureMark(value) || slices.ContainsFunc(c.Problem.Properties, func(w compile.Property) bool {
		return w.Learning != nil && w.Learning.Label == label && w.Learning.FailureValues != nil && slices.Contains(*w.Learning.FailureValues, value)
	})
}

// isNotExist reports whether an error means that a file does not exist.
func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
