package campaign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Result is the outcome of making one recipe, to be recorded.
type Result struct {
	ID     string            // id of a recipe in a batch or of an earlier result; empty for a new recipe of the user's own
	Name   string            // name of a recipe of the user's own
	Parts  []dataset.Part    // amounts as made; nil: as offered or as recorded before
	Values map[string]string // maps the name of a label to the measured value as a text; an empty text means unknown
	Failed bool              // whether making the recipe failed

	// Conditions maps the names of conditions to values as a person writes them. The field Values may
	// have conditions, too. If a recipe of a batch has no stated value of a condition, the offered
	// value is recorded.
	Conditions map[string]string

	At *inputerr.Error // place of the result in a file, for error messages; only File, Line, Column and Cell are used; nil: no place
}

// RecordOptions say how results are recorded.
type RecordOptions struct {
	ReplaceRecorded bool // whether results may replace values and amounts that were recorded before
	Withdraw        bool // whether the results are withdrawn and no longer count

	Now  func() time.Time              // returns the current time; nil: time.Now
	Step func(call, path string) error // called before each system call that changes a file; only for tests, see [file.Dir]
}

// A RecordSummary says what a call of [Campaign.Record] changed.
type RecordSummary struct {
	New            int      `json:"new"`       // number of results recorded for the first time
	ChangedCount   int      `json:"changed"`   // number of recorded results that got other values
	UnchangedCount int      `json:"same"`      // number of results that were already recorded with the same values
	Unfilled       int      `json:"unfilled"`  // number of rows of a batch's table without any value
	WithdrawnCount int      `json:"withdrawn"` // number of results that were withdrawn
	IDs            []string `json:"ids"`       // ids of the new and changed results
	Notes          []string `json:"notes"`     // remarks for the user, such as a broken rule
	File           string   `json:"file"`      // path of the file of results
}

// Record adds either all given results to the file of results or none of them. The existing
// contents of the file stay unchanged, and new entries follow. A result that is already recorded
// adds nothing.
func (c *Campaign) Record(ctx context.Context, results []Result, o RecordOptions) (_ *RecordSummary, err error) {
	path := compile.ResultsPath(c.problemPath)
	dir, base := &file.Dir{Path: filepath.Dir(path), Step: o.Step}, filepath.Base(path)
	lock, err := lockFile(ctx, dir, base)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		defer func() { err = errors.Join(err, lock.Remove()) }()
	}
	if err := removePartialFiles(dir, base); err != nil {
		return nil, err
	}
	r := &recorder{campaign: c, recordOptions: o, summary: &RecordSummary{File: path, IDs: []string{}, Notes: []string{}}}
	if err := r.openLog(dir, base); err != nil {
		return nil, err
	}
	r.entryCountBefore = len(r.resultLog.Entries)
	each := func(do func(*Result) error) error {
		var faults []*inputerr.Error
		for k := range results {
			if err := do(&results[k]); err != nil {
				bad := (*inputerr.Error)(nil)
				if !errors.As(err, &bad) {
					return err
				}
				faults = append(faults, bad)
			}
		}
		return inputerr.Join(faults, false)
	}
	if err := each(r.moveConditions); err != nil {
		return nil, err
	}
	if err := each(checkTexts); err != nil {
		return nil, err
	}
	r.matchAmounts(results)
	if err := each(r.processResult); err != nil {
		return nil, err
	}
	r.addOwnIDNotes()
	if r.summary.New+r.summary.ChangedCount+r.summary.WithdrawnCount == 0 {
		return r.summary, nil
	}
	text, err := r.encodeLog()
	if err != nil {
		return nil, err
	}
	if err := dir.Replace(base, text); err != nil {
		return nil, err
	}
	return r.summary, nil
}

// lockTimeout is the longest time to wait until another process releases the lock of a file.
const lockTimeout = 20 * time.Second

// lockFile takes the lock of the file called name in a directory. The lock is nil if the operating
// system has no file locks.
func lockFile(ctx context.Context, dir *file.Dir, name string) (*file.Lock, error) {
	for begun := time.Now(); ; {
		lock, err := dir.Lock("."+name+".lock", false, 100*time.Millisecond)
		switch {
		case lock != nil || errors.Is(err, errors.ErrUnsupported):
			return lock, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Since(begun) > lockTimeout:
			return nil, &inputerr.Error{File: dir.Join(name), Message: "another kir is writing to this file", Hint: "try again when it has ended"}
		}
	}
}

// removePartialFiles removes incomplete copies of the file called name that killed processes left
// behind. The caller must hold the lock of the file.
func removePartialFiles(dir *file.Dir, name string) error {
	entries, err := os.ReadDir(cmp.Or(dir.Path, "."))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name+".") && strings.HasSuffix(e.Name(), file.NewEnding) {
			if err := dir.Remove(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// A recorder adds results to the file of results, here called the log.
type recorder struct {
	campaign         *Campaign
	recordOptions    RecordOptions
	readOptions      dataset.Options    // options for reading the log
	resultLog        *dataset.Results   // entries of the log, followed by the entries that this recording adds
	entryCountBefore int                // number of entries that the log had before this recording
	labelNames       []string           // names of the labels of the problem and of the log
	matchedEntries   map[*Result]*Entry // maps a result whose id is unknown to the batch's entry with the same amounts
	ownIDNotes       []string           // notes for the user about ids that are in no batch
	summary          *RecordSummary
}

// openLog reads the file of results. If the file does not exist, the log is empty.
func (r *recorder) openLog(dir *file.Dir, base string) error {
	path := dir.Join(base)
	o, err := r.campaign.Problem.BookOptions()
	if err != nil {
		return err
	}
	if err := r.campaign.checkLabels(); err != nil {
		return err
	}
	r.readOptions, r.labelNames = o, r.campaign.measuredLabels()
	text, err := dir.Read(base, maxFileBytes)
	if isNotExist(err) {
		r.resultLog = &dataset.Results{File: path, Ingredients: o.Ingredients}
		for _, name := range slices.Concat(r.campaign.ConditionNames(), r.labelNames) {
			r.resultLog.AddLabel(name)
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.resultLog, err = dataset.ReadResults(bytes.NewReader(text), path, o)
	return err
}

// errorf returns an error with the place of the result in its file.
func (res *Result) errorf(hint, format string, args ...any) error {
	e := &inputerr.Error{Message: fmt.Sprintf(format, args...), Hint: hint}
	if res.At != nil {
		e.File, e.Line, e.Column, e.Cell = res.At.File, res.At.Line, res.At.Column, res.At.Cell
	}
	return e
}

// processResult checks one result and adds it to the log.
func (r *recorder) processResult(res *Result) error {
	if err := r.checkValues(res); err != nil {
		return err
	}
	id, old, proposed, err := r.identifyResult(res)
	if err != nil {
		return err
	}
	if r.matchedEntries[res] != nil {
		r.summary.Notes = append(r.summary.Notes, fmt.Sprintf("%s has the amounts of %s and is recorded as it", inputerr.Quote(res.ID), id))
	}
	if r.recordOptions.Withdraw {
		return r.recordWithdrawal(res, id, old, proposed)
	}
	said := res.Failed || slices.ContainsFunc(valueTexts(res), func(v string) bool { return v != "" })
	if !said && !(r.recordOptions.ReplaceRecorded && old != nil && res.Parts != nil) && !r.changesConditions(res, old) {
		if old == nil && proposed == nil && res.Parts != nil && len(r.labelNames) == 0 {
			said = true // the only thing to record is that the recipe was made
		} else {
			if old == nil || proposed != nil {
				r.summary.Unfilled++
			} else {
				r.summary.UnchangedCount++
			}
			return nil
		}
	}
	e := dataset.Result{ID: id, Recipe: cmp.Or(res.Name, id), Status: dataset.StatusMade}
	var offered []dataset.Part
	if proposed != nil {
		if offered, err = r.campaign.offeredAmounts(proposed); err != nil {
			return err
		}
		e.Round = proposed.round
	}
	switch {
	case res.Parts != nil:
		if e.Parts, err = r.addOfferedUnit(res.Parts, proposed); err != nil {
			return err
		}
		if proposed != nil && r.equalAfterScaling(e.Parts, offered) {
			e.Parts = offered
		}
	case old != nil && len(old.Parts) > 0:
		e.Parts = old.Parts
	case proposed != nil:
		e.Parts = offered
	default:
		return res.errorf(`write what was made: --made "Gin=22%,Tonic=78%"`, "%s is in no batch, and nothing says what it is made of", inputerr.Quote(id))
	}
	r.addConditions(res, old, proposed)
	return r.mergeResult(res, e, old, proposed)
}

// valueTexts returns the texts of all values of a result, in no particular order. The text of an
// unknown value is empty.
func valueTexts(res *Result) []string {
	var all []string
	for _, v := range res.Values {
		all = append(all, v)
	}
	return all
}

// checkValues checks that the values of numeric labels are numbers. If a value is a word for
// failure, such as "failed", checkValues marks the result as failed.
func (r *recorder) checkValues(res *Result) error {
	for _, name := range slices.Sorted(maps.Keys(res.Values)) {
		v := res.Values[name]
		numeric, spread := r.campaign.isNumeric(name), r.campaign.isSpreadLabel(name)
		if v == "" || !numeric && !spread {
			continue
		}
		if numeric && r.campaign.isFailureValue(name, v) {
			res.Failed, res.Values[name] = true, ""
			continue
		}
		f, ok := measure.Number(v)
		if !ok {
			v = strings.Replace(v, ",", ".", 1)
			f, ok = measure.Number(v)
		}
		switch res.Values[name] = v; {
		case ok && spread && f < 0:
			return res.errorf("write 0 or more", "%s is %s, which is no standard deviation", inputerr.Quote(name), inputerr.Quote(v))
		case !ok && !numeric:
			return res.errorf("write a number, or nothing if it is not known", "%s is %s, which is no number", inputerr.Quote(name), inputerr.Quote(v))
		case !ok:
			return res.errorf("write a number, nothing if it is not known, or failed if the trial failed", "%s is %s, which is no number", inputerr.Quote(name), inputerr.Quote(v))
		}
	}
	return nil
}

// identifyResult returns the id of a result. The result recorded is the last log entry with the id, and
// entry is the recipe of a batch with the id. Each of the two is nil if there is none.
func (r *recorder) identifyResult(res *Result) (id string, recorded *dataset.Result, entry *Entry, err error) {
	last := func(id string) *dataset.Result {
		if e, ok := r.resultLog.LastEntry(id); ok {
			return &e
		}
		return nil
	}
	if id = res.ID; id != "" {
		if e := r.matchedEntries[res]; e != nil {
			id = e.ID
		}
		recorded, entry = last(id), r.campaign.findEntry(id)
		switch {
		case recorded != nil:
			return recorded.ID, recorded, entry, nil
		case entry != nil:
			return entry.ID, nil, entry, nil
		case res.Parts == nil:
			return "", nil, nil, res.errorf(r.campaign.pendingIDsHint(), "there is no recipe %s in a batch or among the results", inputerr.Quote(id))
		}
		res.Name = cmp.Or(res.Name, id)
	}
	switch {
	case res.Name == "" && res.Parts != nil:
		return "", nil, nil, res.errorf("name it", "a recipe without a name")
	case res.Parts == nil:
		return "", nil, nil, res.errorf(r.campaign.pendingIDsHint(), "nothing says which recipe is meant")
	}
	// A recipe of the same name and amounts was recorded before.
	for k := len(r.resultLog.Entries) - 1; k >= 0 && res.Name != ""; k-- {
		e := r.resultLog.Entries[k]
		if e.Recipe == res.Name && len(e.Parts) > 0 && r.equalAfterScaling(e.Parts, res.Parts) &&
			!contradictsConditions(res.Conditions, func(name string) string { return r.recordedValue(&e, name) }) {
			return e.ID, last(e.ID), r.campaign.findEntry(e.ID), nil
		}
	}
	return r.newID(), nil, nil, nil
}

// pendingIDsHint returns a hint for error messages that lists the ids of pending recipes.
func (c *Campaign) pendingIDsHint() string {
	var ids []string
	for _, e := range c.pendingEntries() {
		ids = append(ids, e.ID)
	}
	if len(ids) == 0 {
		return `for a recipe of your own write what it was made of: --made "Gin=22%,Tonic=78%"`
	}
	return "these wait for a result: " + inputerr.List(ids, 12)
}

// newID returns an id in the current round that no recipe has.
func (r *recorder) newID() string {
	round, most := r.campaign.Round(), 0
	of := func(id string) {
		if in, number, ok := dataset.ParseRecipeID(id); ok && in == round {
			most = max(most, number)
		}
	}
	for _, e := range r.resultLog.Entries {
		of(e.ID)
	}
	for _, b := range r.campaign.Batches {
		for _, e := range b.Entries {
			of(e.ID)
		}
	}
	return dataset.RecipeID(round, most+1)
}

// addOfferedUnit returns the parts with a unit. If no amount in parts has a unit, all amounts get
// the unit in which the entry was offered.
func (r *recorder) addOfferedUnit(parts []dataset.Part, entry *Entry) ([]dataset.Part, error) {
	if entry == nil || slices.ContainsFunc(parts, func(p dataset.Part) bool { return p.Unit != nil }) {
		return parts, nil
	}
	offered, err := r.campaign.offeredAmounts(entry)
	if err != nil || len(offered) == 0 {
		return parts, err
	}
	parts = slices.Clone(parts)
	for k := range parts {
		parts[k].Unit = offered[0].Unit
	}
	return parts, nil
}

// equalAfterScaling reports whether two recipes become equal when both are scaled to the total of
// the problem and rounded.
func (r *recorder) equalAfterScaling(a, b []dataset.Part) bool {
	x, err := r.campaign.scaleToTotal(a)
	if err != nil {
		return false
	}
	y, err := r.campaign.scaleToTotal(b)
	return err == nil && recipeKey(x) == recipeKey(y)
}

// scaleToTotal scales the amounts of a recipe to the total of the problem and rounds them to whole
// units.
func (c *Campaign) scaleToTotal(parts []dataset.Part) ([]mcmc.Part, error) {
	amounts, err := dataset.Closure(parts, c.Problem.Total)
	if err != nil {
		return nil, err
	}
	out := make([]mcmc.Part, len(parts))
	for k, p := range parts {
		out[k] = mcmc.Part{Ingredient: int(p.Ingredient), Amount: amounts[k]}
	}
	return sortParts(out), nil
}

// recordWithdrawal adds an entry to the log that withdraws a result or a recipe of a batch.
func (r *recorder) recordWithdrawal(res *Result, id string, recorded *dataset.Result, entry *Entry) error {
	if recorded == nil && entry == nil {
		return res.errorf(r.campaign.pendingIDsHint(), "there is nothing recorded of %s", inputerr.Quote(id))
	}
	if recorded != nil && recorded.Status == dataset.StatusWithdrawn {
		r.summary.UnchangedCount++
		return nil
	}
	e := dataset.Result{ID: id, Status: dataset.StatusWithdrawn, Values: make([]string, len(r.resultLog.Labels))}
	if recorded != nil {
		e.Round = recorded.Round
	} else {
		e.Round = entry.round
	}
	r.appendEntry(e)
	r.summary.WithdrawnCount++
	return nil
}

// mergeResult combines the result res with recorded, the last log entry with the same id. It
// completes the new log entry e and appends e to the log, unless nothing changed.
func (r *recorder) mergeResult(res *Result, e dataset.Result, recorded *dataset.Result, entry *Entry) error {
	for _, name := range slices.Sorted(maps.Keys(res.Values)) {
		if res.Values[name] != "" {
			r.resultLog.AddLabel(name)
		}
	}
	e.Values = make([]string, len(r.resultLog.Labels))
	if res.Failed {
		e.Status = dataset.StatusFailed
	}
	again := recorded != nil && recorded.Status != dataset.StatusWithdrawn
	if again {
		was, ok := r.resultLog.LastEntry(recorded.ID) // unlike recorded, with values for the labels added above
		if !ok {
			return fmt.Errorf("campaign: %s is gone", recorded.ID)
		}
		e.Round, e.Recipe = was.Round, was.Recipe
		copy(e.Values, was.Values)
		changed := !r.equalAfterScaling(was.Parts, e.Parts)
		if changed && !r.recordOptions.ReplaceRecorded {
			return res.errorf("kir record --correct replaces it", "%s was recorded with other amounts", inputerr.Quote(e.ID))
		}
		if !changed {
			e.Parts = was.Parts
		}
		if was.Status != e.Status && !r.recordOptions.ReplaceRecorded {
			if was.Status == dataset.StatusMade && e.Status == dataset.StatusFailed && areAllUnknown(was.Values) || was.Status == dataset.StatusFailed && len(knownValues(res)) == 0 {
				e.Status = dataset.StatusFailed
			} else {
				return res.errorf("kir record --correct replaces it", "%s was recorded as %s", inputerr.Quote(e.ID), was.Status)
			}
		}
		changed = changed || was.Status != e.Status
		for _, name := range slices.Sorted(maps.Keys(res.Values)) {
			k := slices.Index(r.resultLog.Labels, name)
			v := res.Values[name]
			switch {
			case v == "" || k < 0 || sameValue(e.Values[k], v):
			case e.Values[k] != "" && !r.recordOptions.ReplaceRecorded:
				return res.errorf("kir record --correct replaces it", "%s has the %s %s already, and not %s", inputerr.Quote(e.ID), name, inputerr.Quote(e.Values[k]), inputerr.Quote(v))
			default:
				e.Values[k], changed = v, true
			}
		}
		if !changed {
			r.summary.UnchangedCount++
			return nil
		}
		r.summary.ChangedCount++
	} else {
		for name, v := range res.Values {
			if k := slices.Index(r.resultLog.Labels, name); k >= 0 {
				e.Values[k] = v
			}
		}
		if entry == nil && recorded == nil {
			e.Round = r.campaign.Round()
			if res.ID != "" {
				r.ownIDNotes = append(r.ownIDNotes, fmt.Sprintf("%s is no id of a batch, and no batch has its amounts: it is recorded as a recipe of your own, %s", inputerr.Quote(res.ID), e.ID))
			}
		}
		r.summary.New++
	}
	if err := r.addBrokenRuleNotes(&e); err != nil {
		return err
	}
	r.appendEntry(e)
	r.summary.IDs = append(r.summary.IDs, e.ID)
	return nil
}

// areAllUnknown reports whether all values are unknown, that is, empty.
func areAllUnknown(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != "" })
}

// knownValues returns the values of a result that are not empty.
func knownValues(res *Result) []string {
	return slices.DeleteFunc(valueTexts(res), func(v string) bool { return v == "" })
}

// sameValue reports whether two texts stand for the same value, such as 1.5 and 1.50.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	return dataset.SameNumber(a, b)
}

// addBrokenRuleNotes adds a note for each rule that a recipe breaks with the amounts in which it was
// made.
func (r *recorder) addBrokenRuleNotes(e *dataset.Result) error {
	parts, err := r.campaign.scaleToTotal(e.Parts)
	if err != nil {
		return &inputerr.Error{Message: fmt.Sprintf("%s: %v", inputerr.Quote(e.ID), err), Hint: "raise the total of the problem"}
	}
	under, err := r.settingOf(e)
	if err != nil {
		return err
	}
	broken, err := r.campaign.Problem.BrokenRules(parts, under)
	if err != nil {
		return err
	}
	for _, b := range broken {
		r.summary.Notes = append(r.summary.Notes, fmt.Sprintf("%s as it was made breaks %q: it is learnt from and never called best", e.ID, b.Text))
	}
	return nil
}

// appendEntry appends an entry to the log with the current time. The time is always later than the
// time of the previous entry with the same id.
func (r *recorder) appendEntry(e dataset.Result) {
	now := time.Now
	if r.recordOptions.Now != nil {
		now = r.recordOptions.Now
	}
	at := now().UTC().Truncate(time.Second)
	if was, ok := r.resultLog.LastEntry(e.ID); ok {
		if before, err := time.Parse(time.RFC3339, was.Time); err == nil && !at.After(before) {
			at = before.Add(time.Second)
		}
	}
	e.Time = at.Format(time.RFC3339)
	r.resultLog.Entries = append(r.resultLog.Entries, e)
}

// offeredAmounts returns the amounts of a batch's entry as the batch offers them, in the unit of
// the batch's table.
func (c *Campaign) offeredAmounts(e *Entry) ([]dataset.Part, error) {
	options, err := c.Problem.BookOptions()
	if err != nil {
		return nil, err
	}
	units := options.Units
	if units == nil {
		units = measure.DefaultUnits()
	}
	var unit *measure.Unit
	if e.measure.Unit != "" {
		var ok bool
		if unit, ok = units.Lookup(e.measure.Unit); !ok {
			return nil, fmt.Errorf("%s was offered in %s, which is no unit any more", e.ID, inputerr.Quote(e.measure.Unit))
		}
	}
	var parts []dataset.Part
	shares, err := e.measure.Shares(e.Recipe, c.Problem.Total)
	if err != nil {
		return nil, err
	}
	for _, p := range e.parts {
		k := slices.IndexFunc(shares, func(s Share) bool { return s.Ingredient == c.Problem.Ingredients[p.Ingredient] })
		amount, err := measure.ParseAmount(shares[k].Amount)
		if err != nil {
			return nil, err
		}
		parts = append(parts, dataset.Part{Ingredient: int32(p.Ingredient), Amount: amount, Unit: unit})
	}
	return parts, nil
}

// A Measure says in which unit and with how many decimals the amounts of recipes are written.
type Measure struct {
	Unit        string `json:"unit"`     // name of the unit; empty if amounts are plain numbers
	WholeAmount string `json:"size"`     // amount of the whole recipe in Unit, as a decimal number
	Decimals    int    `json:"decimals"` // number of decimals of each amount
}

// maxDecimals is the maximum number of decimals with which an amount may be written.
const maxDecimals = 48

// amountWriter returns the formatter for the amounts of recipes. The amounts of a recipe are given
// in units that sum to total.
func (m *Measure) amountWriter(total int) (number.Amounts, error) {
	size, err := measure.ParseAmount(m.WholeAmount)
	if err != nil || size.IsZero() || m.Decimals < 0 || m.Decimals > maxDecimals || total < 1 {
		return number.Amounts{}, fmt.Errorf("a batch has the size %s", inputerr.Quote(m.WholeAmount))
	}
	return number.Amounts{Total: total, Whole: size.Rat(), MinDigits: m.Decimals}, nil
}

// amountTexts formats the amounts of a recipe, which are given in units that sum to total. A text
// has more decimals than the measure if the exact amount needs more.
func (m *Measure) amountTexts(units []int, total int) ([]string, error) {
	a, err := m.amountWriter(total)
	if err != nil {
		return nil, err
	}
	texts := a.WriteTo(a.ExactDigits(units), units)
	for k := range texts {
		texts[k] = number.Trim(texts[k])
	}
	return texts, nil
}

// withEnoughDecimals returns the measure with as many decimals as the exact amounts of the given
// recipes need.
func (m Measure) withEnoughDecimals(total int, recipes ...map[string]int) (Measure, error) {
	a, err := m.amountWriter(total)
	if err != nil {
		return m, err
	}
	var all [][]int
	for _, recipe := range recipes {
		all = append(all, slices.Collect(maps.Values(recipe)))
	}
	if m.Decimals = a.Digits(all...); m.Decimals > maxDecimals {
		return m, fmt.Errorf("amounts in steps of 1/%d of %s need more than %d decimals", total, m.WholeAmount, maxDecimals)
	}
	return m, nil
}

// usualMeasure returns the measure that suits the known recipes best: the unit that they use most
// often, and their median size. If there are no known recipes, the measure is percent.
func (c *Campaign) usualMeasure() Measure {
	m := Measure{Unit: "%", WholeAmount: "100"}
	if c.firstResultTrial == 0 {
		return m
	}
	recipes := c.Problem.Book.Recipes[:c.firstResultTrial]
	uses := make(map[string]int)
	units := map[string]*measure.Unit{"": nil}
	best := ""
	for _, r := range recipes {
		for _, p := range r.Parts {
			name := ""
			if p.Unit != nil {
				name = p.Unit.Name
			}
			units[name] = p.Unit
			if uses[name]++; uses[name] > uses[best] {
				best = name
			}
		}
	}
	unit := units[best]
	var sizes []*big.Rat
	for _, r := range recipes {
		if slices.ContainsFunc(r.Parts, func(p dataset.Part) bool {
			return (p.Unit == nil) != (unit == nil) || unit != nil && p.Unit.Kind != unit.Kind
		}) {
			continue
		}
		size := new(big.Rat)
		for _, p := range r.Parts {
			size.Add(size, p.Base())
		}
		if unit != nil {
			size.Quo(size, unit.Size.Rat())
		}
		sizes = append(sizes, size)
	}
	if len(sizes) == 0 {
		return m
	}
	slices.SortFunc(sizes, (*big.Rat).Cmp)
	return Measure{Unit: best, WholeAmount: roundedText(sizes[len(sizes)/2])}
}

// roundedText formats a number exactly if the text is short, and with three significant digits
// otherwise.
func roundedText(v *big.Rat) string {
	a, err := measure.NearestAmount(v)
	if err == nil && len(a.String()) <= 6 {
		return a.String()
	}
	f, _ := v.Float64()
	digits := max(0, 2-int(math.Floor(portable.Log10(f))))
	return strconv.FormatFloat(f, 'f', digits, 64)
}
