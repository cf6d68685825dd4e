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

// checkTexts changes all texts of a result to the form in which readers of files return texts. It
// returns an error if a file of results cannot store a text.
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

// checkLabel checks whether a label of results may have the given name. The result message says
// what is wrong with the name, and hint says what to do instead. Both are empty if the name is
// valid.
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

// matchAmounts finds recipes of batches for the results of a table whose ids are unknown. A result
// is matched to an entry of a batch with the same offered or recorded amounts. Entries that another
// row of the table names by id are left out. If several entries fit, the order of preference is:
//
//   - an entry of the batch with the most rows in the table
//   - an entry with the same recorded amounts
//   - an entry of the latest batch
//   - the first entry of a batch
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
				if parts, err := r.campaign.scaleToTotal(was.Parts); err == nil {
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
		parts, err := r.campaign.scaleToTotal(res.Parts)
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

// maxNotedOwnIDs is the maximum number of ids for which a note says that the id is in no batch. One
// more note counts the remaining ids.
const maxNotedOwnIDs = 5

// addOwnIDNotes adds notes to the summary about ids of a table that are in no batch.
func (r *recorder) addOwnIDNotes() {
	r.summary.Notes = append(r.summary.Notes, r.ownIDNotes[:min(len(r.ownIDNotes), maxNotedOwnIDs)]...)
	if more := len(r.ownIDNotes) - maxNotedOwnIDs; more > 0 {
		r.summary.Notes = append(r.summary.Notes, fmt.Sprintf("%s of no batch, recorded as recipes of your own", inputerr.Count(more, "more id")))
	}
}

// encodeLog returns the text of the new file of results. To check the text, encodeLog reads it in
// the same way as later commands. It returns an error if reading fails or gives other results.
func (r *recorder) encodeLog() ([]byte, error) {
	for range 3 {
		text, err := r.resultLog.EncodeCSV()
		if err != nil {
			return nil, err
		}
		if len(text) > maxFileBytes {
			return nil, r.nothingRecordedError("shorten the texts, or begin another campaign", "the results would have %d bytes, and may have %d", len(text), maxFileBytes)
		}
		back, err := dataset.ReadResults(bytes.NewReader(text), r.summary.File, r.readOptions)
		if bad := firstInputError(err); bad != nil {
			return nil, r.nothingRecordedError(bad.Hint, "the file of results could not be read again: %s", bad.Message)
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
	return nil, r.nothingRecordedError("write the added values in another form", "each reading of the results gives other values")
}

// firstInputError returns the first [inputerr.Error] that err contains, or nil if there is none.
func firstInputError(err error) *inputerr.Error {
	var bad *inputerr.Error
	if several := (*inputerr.Errors)(nil); errors.As(err, &several) {
		return several.All[0]
	}
	errors.As(err, &bad)
	return bad
}

// nothingRecordedError returns an error that says that nothing was recorded. The formatted text
// gives the reason.
func (r *recorder) nothingRecordedError(hint, format string, args ...any) error {
	return &inputerr.Error{File: r.summary.File, Message: "nothing was recorded: " + fmt.Sprintf(format, args...), Hint: hint}
}

// compareReadBack compares the log with readBack, the results that were read from the text of the
// log. Reading may change the text of an added value but not its meaning, for example from 1,5 to
// 1.5. The result same is then false, and readBack must be written instead of the log.
func (r *recorder) compareReadBack(readBack *dataset.Results) (same bool, err error) {
	log := r.resultLog
	if !slices.Equal(log.Labels, readBack.Labels) {
		return false, r.nothingRecordedError("rename them", "the labels %s would be read as %s", inputerr.List(log.Labels, 12), inputerr.List(readBack.Labels, 12))
	}
	if len(log.Entries) != len(readBack.Entries) {
		return false, r.nothingRecordedError("change the texts of the added results", "%s would be read as %d", inputerr.Count(len(log.Entries), "result"), len(readBack.Entries))
	}
	same = true
	for k := range log.Entries {
		a, b := &log.Entries[k], &readBack.Entries[k]
		if a.ID != b.ID || a.Round != b.Round || a.Recipe != b.Recipe || a.Status != b.Status || a.Time != b.Time {
			return false, r.nothingRecordedError("give the recipe another name", "%s would be read as %s", inputerr.Quote(a.ID+" "+a.Recipe), inputerr.Quote(b.ID+" "+b.Recipe))
		}
		if !slices.EqualFunc(a.Parts, b.Parts, func(p, q dataset.Part) bool {
			return log.Ingredients.Names[p.Ingredient] == readBack.Ingredients.Names[q.Ingredient] && p.Base().Cmp(q.Base()) == 0 && unitName(p) == unitName(q)
		}) {
			return false, r.nothingRecordedError("write the amounts in another form", "the amounts of %s would be read as other amounts", inputerr.Quote(a.ID))
		}
		for i, v := range a.Values {
			is := b.Values[i]
			switch {
			case is == v:
			case k < r.entryCountBefore || is == "" || !dataset.SameNumber(v, is):
				return false, r.nothingRecordedError("write the value in another form, or leave it empty", "the %s of %s is %s and would be read as %s", log.Labels[i], inputerr.Quote(a.ID), inputerr.Quote(v), inputerr.Quote(is))
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
