package campaign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kir/internal/book"
	"kir/internal/fault"
)

// checkTexts makes names of all texts of a result, as every reader does, and checks that a
// file can hold them.
func checkTexts(res *Result) error {
	res.ID, res.Name = book.NormalizeName(res.ID), book.NormalizeName(res.Name)
	named := make(map[string]string, len(res.Values))
	for name, v := range res.Values {
		named[book.NormalizeName(name)] = book.NormalizeName(v)
	}
	res.Values = named
	check := func(what, text string) error {
		if message, hint := book.CheckCell(text); message != "" {
			return res.errorf(hint, "%s %s", what, message)
		}
		return nil
	}
	for _, text := range []string{res.ID, res.Name} {
		if err := check("the name "+fault.Quote(text), text); err != nil {
			return err
		}
	}
	of := ""
	if id := cmp.Or(res.ID, res.Name); id != "" {
		of = " of " + fault.Quote(id)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if named[name] == "" {
			continue
		}
		if message, hint := checkLabel(name); message != "" {
			return res.errorf(hint, "%s", message)
		}
		if err := check(fault.Quote(name)+of, named[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkLabel says what is wrong with the name of a label that results cannot have, and what
// to do instead; empty if they can.
func checkLabel(name string) (message, hint string) {
	if message, hint = book.CheckCell(name); message != "" {
		return "the label " + fault.Quote(name) + " " + message, hint
	}
	if book.IsResultColumn(name) {
		return "a label is called " + fault.Quote(name) + ", as another column of results is", "rename the label"
	}
	return "", ""
}

// checkLabels checks the names of all labels that are measured.
func (c *Campaign) checkLabels() error {
	for _, name := range c.measuredLabels() {
		if message, hint := checkLabel(name); message != "" {
			return &fault.Error{File: c.Problem.File, Message: message, Hint: hint}
		}
	}
	return nil
}

// matchAmounts finds the recipes of batches that results have under another id: a table has
// ids, the id of the result is of nothing, and its amounts are those of a recipe, as it was
// offered or recorded, that no other row has by its id. Of several recipes of the same amounts
// those of the batch count first that more rows of the table are of, then those that were
// recorded so, then those of the later batch, each in its order.
func (r *recorder) matchAmounts(results []Result) {
	r.matched = make(map[*Result]*Entry)
	taken := make(map[*Entry]bool)
	rows := make(map[int]int) // of the table, by round
	var unknown []*Result
	for k := range results {
		res := &results[k]
		if res.ID == "" {
			continue
		}
		if e := r.c.entry(res.ID); e != nil {
			taken[e] = true
			rows[e.round]++
		} else if _, known := r.log.Last(res.ID); !known && res.Parts != nil && (res.Name == "" || res.Name == res.ID) {
			unknown = append(unknown, res)
		}
	}
	if len(unknown) == 0 {
		return
	}
	type candidate struct {
		*Entry
		recorded bool
	}
	candidates := make(map[string][]candidate)
	for _, b := range r.c.Batches {
		for k := range b.Entries {
			e := &b.Entries[k]
			if taken[e] {
				continue
			}
			recorded := ""
			if was, ok := r.log.Last(e.ID); ok && was.Status != book.Withdrawn {
				if parts, err := r.c.closeToTotal(was.Parts); err == nil {
					recorded = recipeKey(parts)
					candidates[recorded] = append(candidates[recorded], candidate{e, true})
				}
			}
			if recorded != e.key {
				candidates[e.key] = append(candidates[e.key], candidate{e, false})
			}
		}
	}
	keys := make([]string, len(unknown))
	for k, res := range unknown {
		parts, err := r.c.closeToTotal(res.Parts)
		if err != nil {
			continue // which is said where it is taken in
		}
		keys[k] = recipeKey(parts)
		in := make(map[int]bool)
		for _, e := range candidates[keys[k]] {
			in[e.round] = true
		}
		for round := range in {
			rows[round]++
		}
	}
	value := func(e candidate) []int {
		recorded := 0
		if e.recorded {
			recorded = 1
		}
		return []int{rows[e.round], recorded, e.round}
	}
	for k, res := range unknown {
		var best candidate
		for _, e := range candidates[keys[k]] {
			if !taken[e.Entry] && (best.Entry == nil || slices.Compare(value(e), value(best)) > 0) {
				best = e
			}
		}
		if best.Entry != nil {
			taken[best.Entry], r.matched[res] = true, best.Entry
		}
	}
}

// mostOwnNoted bounds how many ids of no batch are named.
const mostOwnNoted = 5

// noteOwnIDs says which ids of a table are of no batch.
func (r *recorder) noteOwnIDs() {
	r.out.Notes = append(r.out.Notes, r.ownNotes[:min(len(r.ownNotes), mostOwnNoted)]...)
	if more := len(r.ownNotes) - mostOwnNoted; more > 0 {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s of no batch, recorded as recipes of your own", fault.Count(more, "more id")))
	}
}

// write returns the file of the results, after it was read as every later command reads it:
// what that would refuse, or take for something else, is not written.
func (r *recorder) write() ([]byte, error) {
	for range 3 {
		text, err := r.log.Write()
		if err != nil {
			return nil, err
		}
		if len(text) > mostBytes {
			return nil, r.unreadable("shorten the texts, or begin another campaign", "the results would have %d bytes, and may have %d", len(text), mostBytes)
		}
		back, err := book.ReadResults(bytes.NewReader(text), r.out.File, r.options)
		if bad := firstFault(err); bad != nil {
			return nil, r.unreadable(bad.Hint, "the file of results could not be read again: %s", bad.Message)
		}
		if err != nil {
			return nil, err
		}
		same, err := r.compare(back)
		if err != nil {
			return nil, err
		}
		if same {
			return text, nil
		}
		r.log = back
	}
	return nil, r.unreadable("write the added values in another form", "each reading of the results gives other values")
}

// firstFault returns the first error of an input; nil if it is none.
func firstFault(err error) *fault.Error {
	var bad *fault.Error
	if several := (*fault.Errors)(nil); errors.As(err, &several) {
		return several.All[0]
	}
	errors.As(err, &bad)
	return bad
}

// unreadable says why nothing was recorded.
func (r *recorder) unreadable(hint, format string, args ...any) error {
	return &fault.Error{File: r.out.File, Message: "nothing was recorded: " + fmt.Sprintf(format, args...), Hint: hint}
}

// compare compares the results with what is read of their file. A value that was added may be
// read as another text that says the same, such as 1.5 for 1,5: same is then false, and that
// text is to be written.
func (r *recorder) compare(back *book.Results) (same bool, err error) {
	log := r.log
	if !slices.Equal(log.Labels, back.Labels) {
		return false, r.unreadable("rename them", "the labels %s would be read as %s", fault.List(log.Labels, 12), fault.List(back.Labels, 12))
	}
	if len(log.Entries) != len(back.Entries) {
		return false, r.unreadable("change the texts of the added results", "%s would be read as %d", fault.Count(len(log.Entries), "result"), len(back.Entries))
	}
	same = true
	for k := range log.Entries {
		a, b := &log.Entries[k], &back.Entries[k]
		if a.ID != b.ID || a.Round != b.Round || a.Recipe != b.Recipe || a.Status != b.Status || a.Time != b.Time {
			return false, r.unreadable("give the recipe another name", "%s would be read as %s", fault.Quote(a.ID+" "+a.Recipe), fault.Quote(b.ID+" "+b.Recipe))
		}
		if !slices.EqualFunc(a.Parts, b.Parts, func(p, q book.Part) bool {
			return log.Ingredients.Names[p.Ingredient] == back.Ingredients.Names[q.Ingredient] && p.Base().Cmp(q.Base()) == 0 && unitName(p) == unitName(q)
		}) {
			return false, r.unreadable("write the amounts in another form", "the amounts of %s would be read as other amounts", fault.Quote(a.ID))
		}
		for i, v := range a.Values {
			is := b.Values[i]
			switch {
			case is == v:
			case k < r.entriesBefore || is == "" || !book.SameFigure(v, is):
				return false, r.unreadable("write the value in another form, or leave it empty", "the %s of %s is %s and would be read as %s", log.Labels[i], fault.Quote(a.ID), fault.Quote(v), fault.Quote(is))
			default:
				same = false
			}
		}
	}
	return same, nil
}

func unitName(p book.Part) string {
	if p.Unit == nil {
		return ""
	}
	return p.Unit.Name
}
