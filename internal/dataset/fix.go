package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// A fix is a setting that may get past an error of a table.
type fix struct {
	layout     Layout
	unit, size string // name and size of a unit, such as 9 cl; empty if the fix is not the size of a unit
	effect     string // what the setting does, such as: leaves the recipe out
}

// String returns the setting, as a problem file has it, and what it does.
func (f fix) String() string { return f.setting() + " " + f.effect }

// setting returns the setting as a problem file has it.
func (f fix) setting() string {
	if f.unit != "" {
		return "units: {" + YAMLText(f.unit) + ": " + f.size + "}"
	}
	if f.layout.Sheet != "" {
		return "sheet: " + strconv.Quote(f.layout.Sheet) // so that its end is seen in a sentence
	}
	return f.layout.YAML()
}

// addTo returns options with the setting added.
func (f fix) addTo(o Options) (Options, error) {
	o.Layout = o.Layout.Merge(f.layout)
	if f.unit == "" {
		return o, nil
	}
	if o.Units == nil {
		o.Units = DefaultUnits()
	}
	var err error
	o.Units, err = o.Units.With(f.unit, f.size)
	return o, err
}

// roleFix returns the fix that gives a column a role.
func roleFix(column string, role Role) fix {
	effect := "takes the column as the " + string(role)
	switch role {
	case LabelColumn:
		effect = "takes the column as a label"
	case IgnoredColumn:
		effect = "leaves the column out"
	case IngredientColumn:
		effect = "takes the column as an ingredient"
	}
	return fix{layout: Layout{Columns: map[string]Role{column: role}}, effect: effect}
}

// withoutFix returns the fix that leaves out a recipe or a row.
func withoutFix(name, what string) fix {
	return fix{layout: Layout{Without: []string{name}}, effect: "leaves the " + what + " out"}
}

// unknownFix returns the fix that reads a text as a value that is not known.
func unknownFix(text string) fix {
	return fix{layout: Layout{Unknown: []string{NormalizeName(text)}}, effect: "reads it as not known"}
}

// rowFix returns the fix that leaves out the row at a line of the file.
func rowFix(line int) fix { return withoutFix(rowName(line), "row") }

// sizeFixes return the fixes that give a unit a size in each unit.
func sizeFixes(unit string, sizes ...string) (fixes []fix) {
	for _, size := range sizes {
		fixes = append(fixes, fix{unit: unit, size: size, effect: "gives it a size"})
	}
	return fixes
}

// A stage is a part of reading a table. The errors of a stage hide those of later ones.
type stage int

const (
	headerStage stage = iota // the columns and their roles
	rowStage                 // the rows
	numberStage              // the numbers of labels
)

// A fixableError is the cause of an [*Error] that settings may get past. It wraps the error's own cause, if there is one.
type fixableError struct {
	stage stage
	fixes []fix // the likeliest first
	err   error
}

func (e *fixableError) Error() string {
	if e.err == nil {
		return "the table can be read otherwise"
	}
	return e.err.Error()
}

func (e *fixableError) Unwrap() error { return e.err }

// withFixes adds settings that may get past an error, the likeliest first, and returns the error. They are not part of
// its hint until [TryFixes] has tried them.
func withFixes(e *Error, at stage, fixes ...fix) *Error {
	if old := (*fixableError)(nil); errors.As(e.Err, &old) {
		old.stage, old.fixes = at, append(old.fixes, fixes...)
		return e
	}
	e.Err = &fixableError{stage: at, fixes: fixes, err: e.Err}
	return e
}

// fixesOf returns the stage of an error and the settings that may get past it.
func fixesOf(e *Error) (at stage, fixes []fix) {
	if f := (*fixableError)(nil); errors.As(e.Err, &f) {
		return f.stage, f.fixes
	}
	return headerStage, nil
}

const (
	maxTrials       = 8 // maximum number of times that a refused table is read again to try fixes
	maxUndone       = 4 // maximum number of given columns for which it is read again to try another role
	maxPrintedFixes = 2 // maximum number of fixes in a hint
)

// TryFixes adds settings to the hints of the errors of a refused table, and what they do. It adds only settings that it has
// tried: it reads the table again with the function read, at most maxTrials times, with options that have the setting in
// addition to o. A setting is of use if the table is then read, or if only errors remain that it has not caused. A hint
// gets the likeliest of these settings, and one with which the table is read. If there is none, TryFixes tries to take back
// the role of a column in o.
//
// The argument err is the error of read(o). TryFixes returns err, whose errors it changes; a second call adds nothing.
func TryFixes(err error, o Options, read func(Options) (*Book, error)) error {
	all := inputerr.All(err)
	t := &fixTrial{options: o, read: read, before: errorKeys(all), results: make(map[string][]*Error)}
	t.full = len(all) >= maxErrors
	for _, e := range all {
		_, fixes := fixesOf(e)
		printed, complete := t.usefulFixes(e, fixes)
		if complete == "" && e == all[0] {
			complete = t.undo()
		}
		if complete != "" && !slices.Contains(printed[:min(len(printed), maxPrintedFixes)], complete) {
			printed = append(printed[:min(len(printed), maxPrintedFixes-1)], complete)
		}
		if len(printed) > 0 {
			e.Hint = appendFixes(e.Hint, printed[:min(len(printed), maxPrintedFixes)])
		}
	}
	for _, e := range all {
		if f, ok := e.Err.(*fixableError); ok {
			e.Err = f.err
		}
	}
	return err
}

// usefulFixes returns the fixes of an error that get past it, and the first of them with which the table is read, or "".
func (t *fixTrial) usefulFixes(e *Error, fixes []fix) (useful []string, complete string) {
	sized := make(map[string]bool) // units that have a size already
	for _, f := range fixes {
		if f.unit != "" && sized[f.unit] || slices.Contains(useful, f.String()) {
			continue
		}
		after, ok := t.errorsWith(f)
		if !ok || len(after) > 0 && !t.leadsOn(e, f, after) {
			continue
		}
		useful, sized[f.unit] = append(useful, f.String()), true
		if len(after) == 0 && complete == "" {
			complete = f.String()
		}
	}
	return useful, complete
}

// appendFixes returns a hint with settings and what they do behind it.
func appendFixes(hint string, fixes []string) string {
	switch {
	case hint == "":
	case strings.HasSuffix(hint, "?"):
		hint += " "
	default:
		hint += "; "
	}
	return hint + strings.Join(fixes, ", or ")
}

// A fixTrial reads a refused table again with other options.
type fixTrial struct {
	options Options
	read    func(Options) (*Book, error)
	trials  int
	before  map[string]bool     // keys of the errors without any fix
	full    bool                // whether the table may have more errors than those in before
	results map[string][]*Error // by setting: the errors with it
}

// errorsWith returns the errors of the table with fixes. ok is false if too many have been tried.
func (t *fixTrial) errorsWith(fixes ...fix) (all []*Error, ok bool) {
	key, o := "", t.options
	var err error
	for _, f := range fixes {
		if o, err = f.addTo(o); err != nil {
			return nil, false
		}
		key += f.setting() + "\n"
	}
	if all, ok = t.results[key]; ok {
		return all, true
	}
	if t.trials == maxTrials {
		return nil, false
	}
	t.trials++
	if _, err = t.read(o); err != nil {
		if all = inputerr.All(err); len(all) == 0 {
			return nil, false // the machine failed
		}
	}
	t.results[key] = all
	return all, true
}

// undo returns the setting, with what it does, that gives one of the columns of the options the role that the reader takes
// it for by itself, if the table is then read; else "".
func (t *fixTrial) undo() string {
	names := slices.Sorted(maps.Keys(t.options.Columns))
	slices.SortStableFunc(names, func(a, b string) int { // those that decide the form first
		return cmp.Compare(formRank(t.options.Columns[a]), formRank(t.options.Columns[b]))
	})
	for _, name := range names[:min(len(names), maxUndone)] {
		o := t.options
		o.Columns = maps.Clone(o.Columns)
		delete(o.Columns, name)
		b, err := t.read(o)
		if err != nil || b == nil || b.Shape == nil {
			continue
		}
		if b.Transposed && t.options.Columns[name] == RecipeColumn {
			f := roleFix(name, IngredientColumn)
			f.effect = "reads each column as a recipe"
			if o, err = f.addTo(t.options); err == nil {
				if _, err := t.read(o); err == nil {
					return f.String()
				}
			}
		}
		for _, c := range b.Shape.Columns {
			if c.Name != name || c.Role == t.options.Columns[name] {
				continue
			}
			f := roleFix(name, c.Role)
			if o, err = f.addTo(t.options); err != nil {
				continue
			}
			if _, err := t.read(o); err == nil {
				return f.String()
			}
		}
	}
	return ""
}

// formRank orders the roles of columns: those that decide the form of a table first.
func formRank(r Role) int {
	if r == LabelColumn || r == IgnoredColumn {
		return 1
	}
	return 0
}

// leadsOn reports whether a fix gets past the error e, given the errors that the table has with it.
func (t *fixTrial) leadsOn(e *Error, f fix, after []*Error) bool {
	own := errorKey(e)
	at, _ := fixesOf(e)
	then := []fix{f}
	for _, other := range after {
		stage, next := fixesOf(other)
		switch key := errorKey(other); {
		case key == own:
			return false
		case t.before[key], at == rowStage && t.full && stage == rowStage:
		case at < numberStage && stage == numberStage && !f.mayChangeLabels():
		case at == headerStage && len(next) > 0: // the header hid it, or the fix caused it
			then = append(then, next[0])
		default:
			return false
		}
	}
	if len(then) == 1 {
		return true
	}
	left, ok := t.errorsWith(then...)
	return ok && len(left) == 0
}

// mayChangeLabels reports whether the fix may make a column a label, or a number of a label a text.
func (f fix) mayChangeLabels() bool {
	return len(f.layout.Columns) > 0 || f.layout.Decimal != AnyDecimal
}

// errorKey identifies an error of a table in another reading of it, in which fewer other cells may be numbers.
func errorKey(e *Error) string {
	message, _, _ := strings.Cut(e.Message, whileOthers)
	return fmt.Sprint(e.Line, " ", e.Column, " ", e.Cell, " ", message)
}

// errorKeys returns the set of the keys of errors.
func errorKeys(all []*Error) map[string]bool {
	keys := make(map[string]bool)
	for _, e := range all {
		keys[errorKey(e)] = true
	}
	return keys
}
