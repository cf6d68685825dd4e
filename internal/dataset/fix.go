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
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// A Fix is a setting of a problem file that may get past an error of a table.
type Fix struct {
	Layout     Layout // the setting, if it is one of the layout
	Unit, Size string // name and size of a unit, such as 9 cl; empty if the fix is not the size of a unit
	Effect     string // what the setting does, such as: leaves the recipe out
}

// String returns the setting, as a problem file has it, and what it does.
func (f Fix) String() string { return f.Setting() + " " + f.Effect }

// Setting returns the setting as a problem file has it.
func (f Fix) Setting() string {
	if f.Unit != "" {
		return "units: {" + YAMLText(f.Unit) + ": " + f.Size + "}"
	}
	if f.Layout.Sheet != "" {
		return "sheet: " + strconv.Quote(f.Layout.Sheet) // so that its end is seen in a sentence
	}
	return f.Layout.YAML()
}

// addTo returns options with the setting added.
func (f Fix) addTo(o Options) (Options, error) {
	o.Layout = o.Layout.Merge(f.Layout)
	if f.Unit == "" {
		return o, nil
	}
	if o.Units == nil {
		o.Units = measure.DefaultUnits()
	}
	var err error
	o.Units, err = o.Units.With(f.Unit, f.Size)
	return o, err
}

// roleFix returns the fix that gives a column a role.
func roleFix(column string, role Role) Fix {
	effect := "takes the column as the " + string(role)
	switch role {
	case LabelColumn:
		effect = "takes the column as a label"
	case IgnoredColumn:
		effect = "leaves the column out"
	case IngredientColumn:
		effect = "takes the column as an ingredient"
	}
	return Fix{Layout: Layout{Columns: map[string]Role{column: role}}, Effect: effect}
}

// withoutFix returns the fix that leaves out a recipe or a row.
func withoutFix(name, what string) Fix {
	return Fix{Layout: Layout{Without: []string{name}}, Effect: "leaves the " + what + " out"}
}

// unknownFix returns the fix that reads a text as a value that is not known.
func unknownFix(text string) Fix {
	return Fix{Layout: Layout{Unknown: []string{NormalizeName(text)}}, Effect: "reads it as not known"}
}

// encodingFixes return the fixes that read a file in encodings which programs write where they do not write UTF-8.
func encodingFixes() (fixes []Fix) {
	for _, name := range []string{"windows-1252", "windows-1250", "shift_jis", "gb18030"} {
		fixes = append(fixes, Fix{Layout: Layout{Encoding: name}, Effect: "reads the file so"})
	}
	return fixes
}

// rowFix returns the fix that leaves out the row at a line of the file.
func rowFix(line int) Fix { return withoutFix(rowName(line), "row") }

// sizeFixes return the fixes that give a unit a size in each unit.
func sizeFixes(unit string, sizes ...string) (fixes []Fix) {
	for _, size := range sizes {
		fixes = append(fixes, Fix{Unit: unit, Size: size, Effect: "gives it a size"})
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
	fixes []Fix // the likeliest first; once they are tried, those of the hint
	err   error

	isTried bool   // whether the fixes were tried
	hint    string // the hint without the fixes, once they were tried
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
func withFixes(e *Error, at stage, fixes ...Fix) *Error {
	if old := (*fixableError)(nil); errors.As(e.Err, &old) {
		old.stage, old.fixes = at, append(old.fixes, fixes...)
		return e
	}
	e.Err = &fixableError{stage: at, fixes: fixes, err: e.Err}
	return e
}

// fixesOf returns the stage of an error and the settings that may get past it, if they are not tried yet.
func fixesOf(e *Error) (at stage, fixes []Fix) {
	if f := (*fixableError)(nil); errors.As(e.Err, &f) && !f.isTried {
		return f.stage, f.fixes
	}
	if errors.Is(e.Err, tablefile.ErrEncoding) {
		return headerStage, encodingFixes()
	}
	return headerStage, nil
}

// Fixes returns the fixes in the hint of an error, which [TryFixes] or [AddFixes] put there, and the hint without them.
func Fixes(e *Error) (hint string, fixes []Fix) {
	if f := (*fixableError)(nil); errors.As(e.Err, &f) && f.isTried {
		return f.hint, f.fixes
	}
	return e.Hint, nil
}

// AddFixes adds settings to the hint of an error, which are known to get past it, and returns the error. A second call adds
// nothing.
func AddFixes(e *Error, fixes ...Fix) *Error {
	f, ok := e.Err.(*fixableError)
	switch {
	case ok && f.isTried:
		return e
	case ok && len(fixes) == 0:
		e.Err = f.err
		return e
	case !ok && len(fixes) == 0:
		return e
	case !ok:
		f = &fixableError{err: e.Err}
		e.Err = f
	}
	f.fixes, f.isTried, f.hint = fixes, true, e.Hint
	var texts []string
	for _, one := range fixes {
		texts = append(texts, one.String())
	}
	e.Hint = JoinHint(e.Hint, texts)
	return e
}

// JoinHint returns a hint with fixes behind it, each as text.
func JoinHint(hint string, fixes []string) string {
	switch {
	case hint == "" || len(fixes) == 0:
	case strings.HasSuffix(hint, "?"):
		hint += " "
	default:
		hint += "; "
	}
	return hint + strings.Join(fixes, ", or ")
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
		if complete == nil && e == all[0] {
			complete = t.undo()
		}
		if complete != nil && !containsFix(printed[:min(len(printed), maxPrintedFixes)], *complete) {
			printed = append(printed[:min(len(printed), maxPrintedFixes-1)], *complete)
		}
		AddFixes(e, printed[:min(len(printed), maxPrintedFixes)]...)
	}
	return err
}

// containsFix reports whether a fix is one of others.
func containsFix(all []Fix, f Fix) bool {
	return slices.ContainsFunc(all, func(other Fix) bool { return other.String() == f.String() })
}

// usefulFixes returns the fixes of an error that get past it, and the first of them with which the table is read, or nil.
func (t *fixTrial) usefulFixes(e *Error, fixes []Fix) (useful []Fix, complete *Fix) {
	sized := make(map[string]bool) // units that have a size already
	for _, f := range fixes {
		if f.Unit != "" && sized[f.Unit] || containsFix(useful, f) {
			continue
		}
		after, ok := t.errorsWith(f)
		if !ok || len(after) > 0 && !t.leadsOn(e, f, after) {
			continue
		}
		useful, sized[f.Unit] = append(useful, f), true
		if len(after) == 0 && complete == nil {
			complete = &f
		}
	}
	return useful, complete
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
func (t *fixTrial) errorsWith(fixes ...Fix) (all []*Error, ok bool) {
	key, o := "", t.options
	var err error
	for _, f := range fixes {
		if o, err = f.addTo(o); err != nil {
			return nil, false
		}
		key += f.Setting() + "\n"
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
// it for by itself, if the table is then read; else nil.
func (t *fixTrial) undo() *Fix {
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
			f.Effect = "reads each column as a recipe"
			if o, err = f.addTo(t.options); err == nil {
				if _, err := t.read(o); err == nil {
					return &f
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
				return &f
			}
		}
	}
	return nil
}

// formRank orders the roles of columns: those that decide the form of a table first.
func formRank(r Role) int {
	if r == LabelColumn || r == IgnoredColumn {
		return 1
	}
	return 0
}

// leadsOn reports whether a fix gets past the error e, given the errors that the table has with it.
func (t *fixTrial) leadsOn(e *Error, f Fix, after []*Error) bool {
	own := errorKey(e)
	at, _ := fixesOf(e)
	then := []Fix{f}
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
func (f Fix) mayChangeLabels() bool {
	return len(f.Layout.Columns) > 0 || f.Layout.Decimal != measure.AnyDecimal
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
