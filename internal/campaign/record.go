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
	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Result is the outcome of one recipe, to be recorded.
type Result struct {
	ID     string // of a batch's entry or an earlier result; else empty
	Name   string // of a recipe of the user's own
	Parts  []dataset.Part
	Values map[string]string // by label; empty: unknown
	Failed bool

	// Conditions are the values of conditions, by name, as a person writes them. Record takes those
	// among Values, too. A recipe of a batch has those that were offered unless they say otherwise.
	Conditions map[string]string

	At *inputerr.Error // place in a file, for messages: File, Line, Column, Cell; nil: none
}

// RecordOptions say how results are recorded.
type RecordOptions struct {
	Correct  bool // replace known values and amounts
	Withdraw bool // withdraw the results, so that they no longer count

	Now  func() time.Time              // nil: the clock
	Step func(call, path string) error // see [file.Dir]
}

// A RecordSummary counts what recording changed.
type RecordSummary struct {
	New       int      `json:"new"`
	Changed   int      `json:"changed"`
	Same      int      `json:"same"`      // already recorded
	Unfilled  int      `json:"unfilled"`  // rows of a batch without any value
	Withdrawn int      `json:"withdrawn"` //
	IDs       []string `json:"ids"`       // of new and changed results
	Notes     []string `json:"notes"`     // for the user, such as a broken rule
	File      string   `json:"file"`
}

// Record adds results to the file of results, all of them or none. The new file begins with
// the contents of the old one. Results that are already recorded change nothing.
func (c *Campaign) Record(ctx context.Context, results []Result, o RecordOptions) (_ *RecordSummary, err error) {
	path := compile.ResultsPath(c.path)
	dir, base := &file.Dir{Path: filepath.Dir(path), Step: o.Step}, filepath.Base(path)
	lock, err := lockFile(ctx, dir, base)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		defer func() { err = errors.Join(err, lock.Remove()) }()
	}
	if err := removeUnfinished(dir, base); err != nil {
		return nil, err
	}
	r := &recorder{c: c, o: o, out: &RecordSummary{File: path, IDs: []string{}, Notes: []string{}}}
	if err := r.open(dir, base); err != nil {
		return nil, err
	}
	r.entriesBefore = len(r.log.Entries)
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
	if err := each(r.takeConditions); err != nil {
		return nil, err
	}
	if err := each(checkTexts); err != nil {
		return nil, err
	}
	r.matchAmounts(results)
	if err := each(r.processResult); err != nil {
		return nil, err
	}
	r.noteOwnIDs()
	if r.out.New+r.out.Changed+r.out.Withdrawn == 0 {
		return r.out, nil
	}
	text, err := r.write()
	if err != nil {
		return nil, err
	}
	if err := dir.Replace(base, text); err != nil {
		return nil, err
	}
	return r.out, nil
}

// lockTimeout limits how long Record waits for another process to finish.
const lockTimeout = 20 * time.Second

// lockFile takes the lock of a file. The lock is nil if the system has no locks.
func lockFile(ctx context.Context, dir *file.Dir, base string) (*file.Lock, error) {
	for begun := time.Now(); ; {
		lock, err := dir.Lock("."+base+".lock", false, 100*time.Millisecond)
		switch {
		case lock != nil || errors.Is(err, errors.ErrUnsupported):
			return lock, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Since(begun) > lockTimeout:
			return nil, &inputerr.Error{File: dir.Join(base), Message: "another kir is writing to this file", Hint: "try again when it has ended"}
		}
	}
}

// removeUnfinished removes partial files of killed processes. The caller holds the lock.
func removeUnfinished(dir *file.Dir, base string) error {
	entries, err := os.ReadDir(cmp.Or(dir.Path, "."))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+".") && strings.HasSuffix(e.Name(), file.NewEnding) {
			if err := dir.Remove(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// A recorder adds results to a file of results.
type recorder struct {
	c             *Campaign
	o             RecordOptions
	options       dataset.Options // for reading the log
	log           *dataset.Results
	entriesBefore int                // number of log entries before this recording
	labels        []string           // of the problem and the log
	matched       map[*Result]*Entry // entries of batches found by amounts, for results with another id
	ownNotes      []string           // notes about ids that no batch has
	out           *RecordSummary
}

// open reads the current file of results.
func (r *recorder) open(dir *file.Dir, base string) error {
	path := dir.Join(base)
	o, err := r.c.Problem.BookOptions()
	if err != nil {
		return err
	}
	if err := r.c.checkLabels(); err != nil {
		return err
	}
	r.options, r.labels = o, r.c.measuredLabels()
	text, err := dir.Read(base, mostBytes)
	if isNotExist(err) {
		r.log = &dataset.Results{File: path, Ingredients: o.Ingredients}
		for _, name := range slices.Concat(r.c.ConditionNames(), r.labels) {
			r.log.AddLabel(name)
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.log, err = dataset.ReadResults(bytes.NewReader(text), path, o)
	return err
}

// errorf returns an error at the place of a result.
func (res *Result) errorf(hint, format string, args ...any) error {
	e := &inputerr.Error{Message: fmt.Sprintf(format, args...), Hint: hint}
	if res.At != nil {
		e.File, e.Line, e.Column, e.Cell = res.At.File, res.At.Line, res.At.Column, res.At.Cell
	}
	return e
}

// processResult adds one result to the log.
func (r *recorder) processResult(res *Result) error {
	if err := r.readValues(res); err != nil {
		return err
	}
	id, old, proposed, err := r.find(res)
	if err != nil {
		return err
	}
	if r.matched[res] != nil {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s has the amounts of %s and is recorded as it", inputerr.Quote(res.ID), id))
	}
	if r.o.Withdraw {
		return r.withdraw(res, id, old, proposed)
	}
	said := res.Failed || slices.ContainsFunc(values(res), func(v string) bool { return v != "" })
	if !said && !(r.o.Correct && old != nil && res.Parts != nil) && !r.changesConditions(res, old) {
		if old == nil && proposed == nil && res.Parts != nil && len(r.labels) == 0 {
			said = true // the only thing to record is that the recipe was made
		} else {
			if old == nil || proposed != nil {
				r.out.Unfilled++
			} else {
				r.out.Same++
			}
			return nil
		}
	}
	e := dataset.Result{ID: id, Recipe: cmp.Or(res.Name, id), Status: dataset.Made}
	var offered []dataset.Part
	if proposed != nil {
		if offered, err = r.c.amounts(proposed); err != nil {
			return err
		}
		e.Round = proposed.round
	}
	switch {
	case res.Parts != nil:
		if e.Parts, err = r.withOfferedUnit(res.Parts, proposed); err != nil {
			return err
		}
		if proposed != nil && r.areEqualOnceClosed(e.Parts, offered) {
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
	return r.add(res, e, old, proposed)
}

// values returns the texts of a result's values, known and unknown.
func values(res *Result) []string {
	var all []string
	for _, v := range res.Values {
		all = append(all, v)
	}
	return all
}

// readValues checks that numeric labels have numbers. It turns words for failure into a failed
// status.
func (r *recorder) readValues(res *Result) error {
	for _, name := range slices.Sorted(maps.Keys(res.Values)) {
		v := res.Values[name]
		numeric, spread := r.c.isNumeric(name), r.c.isSpreadLabel(name)
		if v == "" || !numeric && !spread {
			continue
		}
		if numeric && r.c.isFailureValue(name, v) {
			res.Failed, res.Values[name] = true, ""
			continue
		}
		f, ok := dataset.Number(v)
		if !ok {
			v = strings.Replace(v, ",", ".", 1)
			f, ok = dataset.Number(v)
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

// find identifies a result: it returns the id, the last log entry of this id and the entry of
// a batch.
func (r *recorder) find(res *Result) (id string, old *dataset.Result, proposed *Entry, err error) {
	last := func(id string) *dataset.Result {
		if e, ok := r.log.Last(id); ok {
			return &e
		}
		return nil
	}
	if id = res.ID; id != "" {
		if e := r.matched[res]; e != nil {
			id = e.ID
		}
		old, proposed = last(id), r.c.entry(id)
		switch {
		case old != nil:
			return old.ID, old, proposed, nil
		case proposed != nil:
			return proposed.ID, nil, proposed, nil
		case res.Parts == nil:
			return "", nil, nil, res.errorf(r.c.pendingIDsHint(), "there is no recipe %s in a batch or among the results", inputerr.Quote(id))
		}
		res.Name = cmp.Or(res.Name, id)
	}
	switch {
	case res.Name == "" && res.Parts != nil:
		return "", nil, nil, res.errorf("name it", "a recipe without a name")
	case res.Parts == nil:
		return "", nil, nil, res.errorf(r.c.pendingIDsHint(), "nothing says which recipe is meant")
	}
	// A recipe of the same name and amounts was recorded before.
	for k := len(r.log.Entries) - 1; k >= 0 && res.Name != ""; k-- {
		e := r.log.Entries[k]
		if e.Recipe == res.Name && len(e.Parts) > 0 && r.areEqualOnceClosed(e.Parts, res.Parts) &&
			!statesOtherCondition(res.Conditions, func(name string) string { return r.recordedValue(&e, name) }) {
			return e.ID, last(e.ID), r.c.entry(e.ID), nil
		}
	}
	return r.newID(), nil, nil, nil
}

// pendingIDsHint returns a hint that lists the pending ids.
func (c *Campaign) pendingIDsHint() string {
	var ids []string
	for _, e := range c.pending() {
		ids = append(ids, e.ID)
	}
	if len(ids) == 0 {
		return `for a recipe of your own write what it was made of: --made "Gin=22%,Tonic=78%"`
	}
	return "these wait for a result: " + inputerr.List(ids, 12)
}

// newID returns an unused id of the current round.
func (r *recorder) newID() string {
	round, most := r.c.Round(), 0
	of := func(id string) {
		if in, number, ok := dataset.ParseID(id); ok && in == round {
			most = max(most, number)
		}
	}
	for _, e := range r.log.Entries {
		of(e.ID)
	}
	for _, b := range r.c.Batches {
		for _, e := range b.Entries {
			of(e.ID)
		}
	}
	return dataset.ID(round, most+1)
}

// withOfferedUnit gives amounts without a unit the unit in which the batch was offered.
func (r *recorder) withOfferedUnit(parts []dataset.Part, proposed *Entry) ([]dataset.Part, error) {
	if proposed == nil || slices.ContainsFunc(parts, func(p dataset.Part) bool { return p.Unit != nil }) {
		return parts, nil
	}
	offered, err := r.c.amounts(proposed)
	if err != nil || len(offered) == 0 {
		return parts, err
	}
	parts = slices.Clone(parts)
	for k := range parts {
		parts[k].Unit = offered[0].Unit
	}
	return parts, nil
}

// areEqualOnceClosed reports whether two recipes are equal once both are closed to the total.
func (r *recorder) areEqualOnceClosed(a, b []dataset.Part) bool {
	x, err := r.c.closeToTotal(a)
	if err != nil {
		return false
	}
	y, err := r.c.closeToTotal(b)
	return err == nil && recipeKey(x) == recipeKey(y)
}

// closeToTotal scales and rounds a recipe to the total of the problem.
func (c *Campaign) closeToTotal(parts []dataset.Part) ([]mcmc.Part, error) {
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

// withdraw withdraws a result, or a recipe of a batch.
func (r *recorder) withdraw(res *Result, id string, old *dataset.Result, proposed *Entry) error {
	if old == nil && proposed == nil {
		return res.errorf(r.c.pendingIDsHint(), "there is nothing recorded of %s", inputerr.Quote(id))
	}
	if old != nil && old.Status == dataset.Withdrawn {
		r.out.Same++
		return nil
	}
	e := dataset.Result{ID: id, Status: dataset.Withdrawn, Values: make([]string, len(r.log.Labels))}
	if old != nil {
		e.Round = old.Round
	} else {
		e.Round = proposed.round
	}
	r.append(e)
	r.out.Withdrawn++
	return nil
}

// add merges a result with the last log entry of its id. It adds an entry if anything changed.
func (r *recorder) add(res *Result, e dataset.Result, old *dataset.Result, proposed *Entry) error {
	for _, name := range slices.Sorted(maps.Keys(res.Values)) {
		if res.Values[name] != "" {
			r.log.AddLabel(name)
		}
	}
	e.Values = make([]string, len(r.log.Labels))
	if res.Failed {
		e.Status = dataset.Failed
	}
	again := old != nil && old.Status != dataset.Withdrawn
	if again {
		was, ok := r.log.Last(old.ID) // unlike old, with values for the labels added above
		if !ok {
			return fmt.Errorf("campaign: %s is gone", old.ID)
		}
		e.Round, e.Recipe = was.Round, was.Recipe
		copy(e.Values, was.Values)
		changed := !r.areEqualOnceClosed(was.Parts, e.Parts)
		if changed && !r.o.Correct {
			return res.errorf("kir record --correct replaces it", "%s was recorded with other amounts", inputerr.Quote(e.ID))
		}
		if !changed {
			e.Parts = was.Parts
		}
		if was.Status != e.Status && !r.o.Correct {
			if was.Status == dataset.Made && e.Status == dataset.Failed && areAllUnknown(was.Values) || was.Status == dataset.Failed && len(knownValues(res)) == 0 {
				e.Status = dataset.Failed
			} else {
				return res.errorf("kir record --correct replaces it", "%s was recorded as %s", inputerr.Quote(e.ID), was.Status)
			}
		}
		changed = changed || was.Status != e.Status
		for _, name := range slices.Sorted(maps.Keys(res.Values)) {
			k := slices.Index(r.log.Labels, name)
			v := res.Values[name]
			switch {
			case v == "" || k < 0 || sameValue(e.Values[k], v):
			case e.Values[k] != "" && !r.o.Correct:
				return res.errorf("kir record --correct replaces it", "%s has the %s %s already, and not %s", inputerr.Quote(e.ID), name, inputerr.Quote(e.Values[k]), inputerr.Quote(v))
			default:
				e.Values[k], changed = v, true
			}
		}
		if !changed {
			r.out.Same++
			return nil
		}
		r.out.Changed++
	} else {
		for name, v := range res.Values {
			if k := slices.Index(r.log.Labels, name); k >= 0 {
				e.Values[k] = v
			}
		}
		if proposed == nil && old == nil {
			e.Round = r.c.Round()
			if res.ID != "" {
				r.ownNotes = append(r.ownNotes, fmt.Sprintf("%s is no id of a batch, and no batch has its amounts: it is recorded as a recipe of your own, %s", inputerr.Quote(res.ID), e.ID))
			}
		}
		r.out.New++
	}
	if err := r.noteBrokenRules(&e); err != nil {
		return err
	}
	r.append(e)
	r.out.IDs = append(r.out.IDs, e.ID)
	return nil
}

// areAllUnknown reports whether all values are unknown.
func areAllUnknown(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != "" })
}

// knownValues returns the known values of a result.
func knownValues(res *Result) []string {
	return slices.DeleteFunc(values(res), func(v string) bool { return v == "" })
}

// sameValue reports whether two cells have the same meaning.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	return dataset.SameFigure(a, b)
}

// noteBrokenRules adds a note for each rule that the recipe as made breaks.
func (r *recorder) noteBrokenRules(e *dataset.Result) error {
	parts, err := r.c.closeToTotal(e.Parts)
	if err != nil {
		return &inputerr.Error{Message: fmt.Sprintf("%s: %v", inputerr.Quote(e.ID), err), Hint: "raise the total of the problem"}
	}
	under, err := r.settingOf(e)
	if err != nil {
		return err
	}
	broken, err := r.c.Problem.BrokenRules(parts, under)
	if err != nil {
		return err
	}
	for _, b := range broken {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s as it was made breaks %q: it is learnt from and never called best", e.ID, b.Text))
	}
	return nil
}

// append adds an entry to the log. Its time is later than that of the last entry of the same
// id.
func (r *recorder) append(e dataset.Result) {
	now := time.Now
	if r.o.Now != nil {
		now = r.o.Now
	}
	at := now().UTC().Truncate(time.Second)
	if was, ok := r.log.Last(e.ID); ok {
		if before, err := time.Parse(time.RFC3339, was.Time); err == nil && !at.After(before) {
			at = before.Add(time.Second)
		}
	}
	e.Time = at.Format(time.RFC3339)
	r.log.Entries = append(r.log.Entries, e)
}

// amounts returns the amounts of an entry as they were offered, in the unit of the batch's
// table.
func (c *Campaign) amounts(e *Entry) ([]dataset.Part, error) {
	options, err := c.Problem.BookOptions()
	if err != nil {
		return nil, err
	}
	units := options.Units
	if units == nil {
		units = dataset.DefaultUnits()
	}
	var unit *dataset.Unit
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
		amount, err := dataset.ParseAmount(shares[k].Amount)
		if err != nil {
			return nil, err
		}
		parts = append(parts, dataset.Part{Ingredient: int32(p.Ingredient), Amount: amount, Unit: unit})
	}
	return parts, nil
}

// A Measure is the unit in which amounts are written. Size is the amount of the whole recipe,
// in Unit or as a plain number. Decimals is the number of decimals.
type Measure struct {
	Unit     string `json:"unit"`
	Size     string `json:"size"`
	Decimals int    `json:"decimals"`
}

// mostDecimals is the greatest number of decimals of an amount.
const mostDecimals = 48

// amounts returns the writer of amounts for recipes of a total.
func (m *Measure) amounts(total int) (number.Amounts, error) {
	size, err := dataset.ParseAmount(m.Size)
	if err != nil || size.IsZero() || m.Decimals < 0 || m.Decimals > mostDecimals || total < 1 {
		return number.Amounts{}, fmt.Errorf("a batch has the size %s", inputerr.Quote(m.Size))
	}
	return number.Amounts{Total: total, Whole: size.Rat(), MinDigits: m.Decimals}, nil
}

// write returns the amounts of a recipe as texts. A recipe chosen by an earlier version may
// need more decimals than were written then.
func (m *Measure) write(units []int, total int) ([]string, error) {
	a, err := m.amounts(total)
	if err != nil {
		return nil, err
	}
	texts := a.WriteTo(a.ExactDigits(units), units)
	for k := range texts {
		texts[k] = number.Trim(texts[k])
	}
	return texts, nil
}

// fitDecimals returns the measure with enough decimals for the amounts of all given recipes.
func (m Measure) fitDecimals(total int, recipes ...map[string]int) (Measure, error) {
	a, err := m.amounts(total)
	if err != nil {
		return m, err
	}
	var all [][]int
	for _, recipe := range recipes {
		all = append(all, slices.Collect(maps.Values(recipe)))
	}
	if m.Decimals = a.Digits(all...); m.Decimals > mostDecimals {
		return m, fmt.Errorf("amounts in steps of 1/%d of %s need more than %d decimals", total, m.Size, mostDecimals)
	}
	return m, nil
}

// usualMeasure returns the measure for recipes of the problem: the most frequent unit of its
// book, with the median size of its recipes. Without a book it returns percent.
func (c *Campaign) usualMeasure() Measure {
	m := Measure{Unit: "%", Size: "100"}
	if c.firstResult == 0 {
		return m
	}
	recipes := c.Problem.Book.Recipes[:c.firstResult]
	uses := make(map[string]int)
	units := map[string]*dataset.Unit{"": nil}
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
	return Measure{Unit: best, Size: roundedText(sizes[len(sizes)/2])}
}

// roundedText writes a number exactly if that is short, else to three digits.
func roundedText(v *big.Rat) string {
	a, err := dataset.NearestAmount(v)
	if err == nil && len(a.String()) <= 6 {
		return a.String()
	}
	f, _ := v.Float64()
	digits := max(0, 2-int(math.Floor(portable.Log10(f))))
	return strconv.FormatFloat(f, 'f', digits, 64)
}
