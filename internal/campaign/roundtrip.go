package campaign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// checkTexts normalises all texts of a result as readers of files do. It returns an error if a file
// of results cannot hold a text.
func checkTexts(res *Result) error {
	res.ID, res.Name = dataset.NormalizeName(res.ID), dataset.NormalizeName(res.Name)
	named := make(map[string]string, len(res.Values))
	for name, v := range res.Values {
		named[dataset.NormalizeName(name)] = dataset.NormalizeName(v)
	}
	res.Values = named
	check := func(what, text string) error {
		if message, hint := dataset.CheckCell(text); message != "" {
			return res.errorf(hint, "%s %s", what, message)
		}
		return nil
	}
	for _, text := range []string{res.ID, res.Name} {
		if err := check("the name "+inputerr.Quote(text), text); err != nil {
			return err
		}
	}
	of := ""
	if id := cmp.Or(res.ID, res.Name); id != "" {
		of = " of " + inputerr.Quote(id)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if named[name] == "" {
			continue
		}
		if message, hint := checkLabel(name); message != "" {
			return res.errorf(hint, "%s", message)
		}
		if err := check(inputerr.Quote(name)+of, named[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkLabel checks whether results can have a label with the given name. It returns what is wrong
// and what to do instead. Both texts are empty if the name is valid.
func checkLabel(name string) (message, hint string) {
	if message, hint = dataset.CheckCell(name); message != "" {
		return "the label " + inputerr.Quote(name) + " " + message, hint
	}
	if dataset.IsResultColumn(name) {
		return "a label is called " + inputerr.Quote(name) + ", as another column of results is", "rename the label"
	}
	return "", ""
}

// checkLabels checks the names of all conditions and all measured labels.
func (c *Campaign) checkLabels() error {
	for _, name := range c.ConditionNames() {
		if dataset.IsResultColumn(name) && !strings.EqualFold(name, "time") {
			return &inputerr.Error{File: c.Problem.File, Message: "a condition is called " + inputerr.Quote(name) + ", as another column of results is", Hint: "rename the condition, and its column of the recipes"}
		}
	}
	for _, name := range c.measuredLabels() {
		if message, hint := checkLabel(name); message != "" {
			return &inputerr.Error{File: c.Problem.File, Message: message, Hint: hint}
		}
	}
	return nil
}

// matchAmounts assigns results with an unknown id to the batch's entry with the same amounts. An
// entry that another row of the table names by id is left out. The amounts must equal the offered
// or the recorded amounts. If several entries fit, the batch with the most rows in the table has
// priority. Recorded amounts then take precedence over offered amounts, later batches over earlier
// batches, and earlier entries over later entries.
func (r *recorder) matchAmounts(results []Result) {
	r.matchedEntries = make(map[*Result]*Entry)
	taken := make(map[*Entry]bool)
	rows := make(map[int]int) // by round: number of rows of the table
	var unknown []*Result
	for k := range results {
		res := &results[k]
		if res.ID == "" {
			continue
		}
		if e := r.campaign.findEntry(res.ID); e != nil {
			taken[e] = true
			rows[e.round]++
		} else if _, known := r.resultLog.LastEntry(res.ID); !known && res.Parts != nil && (res.Name == "" || res.Name == res.ID) {
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
	for _, b := range r.campaign.Batches {
		for k := range b.Entries {
			e := &b.Entries[k]
			if taken[e] {
				continue
			}
			recorded := ""
			if was, ok := r.resultLog.LastEntry(e.ID); ok && was.Status != dataset.StatusWithdrawn {
				if parts, err := r.campaign.closeToTotal(was.Parts); err == nil {
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
		parts, err := r.campaign.closeToTotal(res.Parts)
		if err != nil {
			continue // processResult reports this error
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
			stated := func(name string) string { return valueText(e.Conditions[name]) }
			if !taken[e.Entry] && !contradictsConditions(res.Conditions, stated) && (best.Entry == nil || slices.Compare(value(e), value(best)) > 0) {
				best = e
			}
		}
		if best.Entry != nil {
			taken[best.Entry], r.matchedEntries[res] = true, best.Entry
		}
	}
}

// maxNotedOwnIDs is the maximum number of ids without a batch that notes list by name.
const maxNotedOwnIDs = 5

// noteOwnIDs adds notes about the ids of a table that belong to no batch.
func (r *recorder) noteOwnIDs() {
	r.summary.Notes = append(r.summary.Notes, r.ownIDNotes[:min(len(r.ownIDNotes), maxNotedOwnIDs)]...)
	if more := len(r.ownIDNotes) - maxNotedOwnIDs; more > 0 {
		r.summary.Notes = append(r.summary.Notes, fmt.Sprintf("%s of no batch, recorded as recipes of your own", inputerr.Count(more, "more id")))
	}
}

// encodeLog returns the text of the new file of results. It first reads the text back as later
// commands will do. If reading fails or gives other results, encodeLog returns an error.
func (r *recorder) encodeLog() ([]byte, error) {
	for range 3 {
		text, err := r.resultLog.EncodeCSV()
		if err != nil {
			return nil, err
		}
		if len(text) > maxFileBytes {
			return nil, r.unreadableError("shorten the texts, or begin another campaign", "the results would have %d bytes, and may have %d", len(text), maxFileBytes)
		}
		back, err := dataset.ReadResults(bytes.NewReader(text), r.summary.File, r.readOptions)
		if bad := firstFault(err); bad != nil {
			return nil, r.unreadableError(bad.Hint, "the file of results could not be read again: %s", bad.Message)
		}
		if err != nil {
			return nil, err
		}
		same, err := r.compareReadBack(back)
		if err != nil {
			return nil, err
		}
		if same {
			return text, nil
		}
		r.resultLog = back
	}
	return nil, r.unreadableError("write the added values in another form", "each reading of the results gives other values")
}

// firstFault returns the first [inputerr.Error] in err, or nil if there is none.
func firstFault(err error) *inputerr.Error {
	var bad *inputerr.Error
	if several := (*inputerr.Errors)(nil); errors.As(err, &several) {
		return several.All[0]
	}
	errors.As(err, &bad)
	return bad
}

// unreadableError returns an error which says that nothing was recorded, and why.
func (r *recorder) unreadableError(hint, format string, args ...any) error {
	return &inputerr.Error{File: r.summary.File, Message: "nothing was recorded: " + fmt.Sprintf(format, args...), Hint: hint}
}

// compareReadBack compares the log with the results that were read back from its text. An added
// value may be read back as another text with the same meaning, such as 1.5 for 1,5. In that case
// same is false, and the results read back are to be written instead.
func (r *recorder) compareReadBack(back *dataset.Results) (same bool, err error) {
	log := r.resultLog
	if !slices.Equal(log.Labels, back.Labels) {
		return false, r.unreadableError("rename them", "the labels %s would be read as %s", inputerr.List(log.Labels, 12), inputerr.List(back.Labels, 12))
	}
	if len(log.Entries) != len(back.Entries) {
		return false, r.unreadableError("change the texts of the added results", "%s would be read as %d", inputerr.Count(len(log.Entries), "result"), len(back.Entries))
	}
	same = true
	for k := range log.Entries {
		a, b := &log.Entries[k], &back.Entries[k]
		if a.ID != b.ID || a.Round != b.Round || a.Recipe != b.Recipe || a.Status != b.Status || a.Time != b.Time {
			return false, r.unreadableError("give the recipe another name", "%s would be read as %s", inputerr.Quote(a.ID+" "+a.Recipe), inputerr.Quote(b.ID+" "+b.Recipe))
		}
		if !slices.EqualFunc(a.Parts, b.Parts, func(p, q dataset.Part) bool {
			return log.Ingredients.Names[p.Ingredient] == back.Ingredients.Names[q.Ingredient] && p.Base().Cmp(q.Base()) == 0 && unitName(p) == unitName(q)
		}) {
			return false, r.unreadableError("write the amounts in another form", "the amounts of %s would be read as other amounts", inputerr.Quote(a.ID))
		}
		for i, v := range a.Values {
			is := b.Values[i]
			switch {
			case is == v:
			case k < r.entriesBefore || is == "" || !dataset.SameNumber(v, is):
				return false, r.unreadableError("write the value in another form, or leave it empty", "the %s of %s is %s and would be read as %s", log.Labels[i], inputerr.Quote(a.ID), inputerr.Quote(v), inputerr.Quote(is))
			default:
				same = false
			}
		}
	}
	return same, nil
}

func unitName(p dataset.Part) string {
	if p.Unit == nil {
		return ""
	}
	return p.Unit.Name
}
