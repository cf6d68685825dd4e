package compile

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A TableQuestion asks whether something that kir assumed of a table is right.
type TableQuestion struct {
	Text string // place in the table, and what is assumed

	// Flags are flags of kir init that settle the question otherwise. Each of them alone is an answer.
	Flags []InitFlag
}

// An InitFlag is a flag of kir init with its value, such as columns and rating=ingredient.
type InitFlag struct{ Name, Value string }

// Questions returns the questions about the tables of the draft that the user has not answered. Each has a flag of
// kir init that answers it otherwise. remarks are other guesses to look at, which only a change of the table changes.
func (d *Draft) Questions() (questions []TableQuestion, remarks []dataset.Note) {
	_, notes := d.Contents()
	var likely []dataset.Note // columns that are taken for results or conditions
	for _, n := range notes {
		switch flags := noteFlags(&n); {
		case n.Setting == "" && !n.Doubtful:
		case n.IsLikely && n.AssumedRole == dataset.LabelColumn && n.LikelyRole == "":
			likely = append(likely, n)
		case n.AboutOrigin, strings.HasPrefix(n.Setting, "units:"): // asked below
		case len(flags) > 0:
			n.Message, _, _ = strings.Cut(n.Message, ": including: ") // the flag says so
			questions = append(questions, TableQuestion{n.String(), flags})
		default:
			remarks = append(remarks, n)
		}
	}
	if q, ok := d.likelyLabels(likely); ok {
		questions = append(questions, q)
	}
	if d.Book == nil {
		return questions, remarks
	}
	questions = append(questions, d.originFlags()...)
	for _, use := range d.Book.LooseUnits() {
		if d.Units[use.Name] == "" {
			questions = append(questions, TableQuestion{
				fmt.Sprintf("%s has no standard size: %s assumed in %s", inputerr.Quote(use.Name), use.Size+" is", inputerr.Count(use.Recipes, "recipe")),
				[]InitFlag{{"units", use.Name + "=" + use.Size}}})
		}
	}
	if d.Book.LongForm && d.Ingredients == "" {
		for _, pair := range d.Book.Misspellings() {
			questions = append(questions, TableQuestion{
				fmt.Sprintf("%s and %s are taken for two ingredients", inputerr.Quote(pair[0]), inputerr.Quote(pair[1])),
				[]InitFlag{{"names", pair[1] + "=" + pair[0]}}})
		}
	}
	return questions, remarks
}

// likelyLabels returns one question about all columns that are much likelier results or conditions than ingredients. ok is
// false if there are none.
func (d *Draft) likelyLabels(notes []dataset.Note) (q TableQuestion, ok bool) {
	var names []string
	for _, n := range notes {
		names = append(names, n.AmbiguousColumn)
		q.Flags = append(q.Flags, noteFlags(&n)...)
	}
	lines := "column"
	if d.Book != nil && d.Book.Transposed {
		lines = "row"
	}
	switch len(names) {
	case 0:
		return q, false
	case 1:
		q.Text = notes[0].String()
	default:
		q.Text = lines + "s " + inputerr.List(names, 12) + " are taken as results or conditions, not as ingredients"
	}
	q.Flags = q.Flags[:min(len(q.Flags), maxLikelyFlags)]
	return q, true
}

// maxLikelyFlags is the number of flags that a question about several columns shows.
const maxLikelyFlags = 3

// noteFlags returns the flags of kir init that settle a note otherwise than the reader. It returns nil if there is none.
func noteFlags(n *dataset.Note) []InitFlag {
	setting, value, _ := strings.Cut(n.Setting, ": ")
	switch {
	case n.AboutOrigin:
		return nil
	case n.AmbiguousColumn != "":
		role := n.LikelyRole
		switch {
		case role != "":
		case n.AssumedRole == dataset.LabelColumn:
			role = dataset.IngredientColumn
		default:
			role = dataset.LabelColumn
		}
		return []InitFlag{{"columns", n.AmbiguousColumn + "=" + FlagRole(role)}}
	case n.Spelling != "":
		return []InitFlag{{"names", n.Spelling + "=" + n.Spelling + " (2)"}}
	case n.QuestionableRow != "" && n.RowLeftOut:
		return []InitFlag{{"including", n.QuestionableRow}}
	case n.QuestionableRow != "":
		return []InitFlag{{"without", n.QuestionableRow}}
	case setting == "decimal" && value == measure.DecimalComma.String():
		return []InitFlag{{"decimal", measure.DecimalPoint.String()}}
	case setting == "decimal":
		return []InitFlag{{"decimal", measure.DecimalComma.String()}}
	case setting == "encoding":
		return []InitFlag{{"encoding", otherEncoding(value)}}
	case setting == "sheet":
		return []InitFlag{{"sheet", "NAME"}}
	}
	return nil
}

// FlagRole returns the word for a role in the flags of kir init: result for a label, as a problem file calls results,
// conditions and remarks.
func FlagRole(role dataset.Role) string {
	if role == dataset.LabelColumn {
		return "result"
	}
	return string(role)
}

// Encodings are the usual encodings of text files that do not say theirs, the most frequent first.
var Encodings = []string{"windows-1252", "windows-1250", "windows-1251", "macintosh", "shift_jis", "gb18030"}

// otherEncoding returns the most frequent encoding but the given one.
func otherEncoding(name string) string {
	return Encodings[slices.IndexFunc(Encodings, func(other string) bool { return other != name })]
}

// originFlags returns the questions about columns that a trial may set or measure, without those that the user answered.
func (d *Draft) originFlags() (questions []TableQuestion) {
	var set, open TableQuestion
	var names, openNames []string
	for _, q := range d.OriginQuestions() {
		switch {
		case slices.Contains(d.SetColumns, q.Column) || slices.Contains(d.MeasuredColumns, q.Column):
		case q.Set:
			names = append(names, q.Column)
			set.Flags = append(set.Flags, InitFlag{"results", q.Column})
		default:
			openNames = append(openNames, q.Column)
			open.Flags = append(open.Flags, InitFlag{"conditions", q.Column})
		}
	}
	switch len(openNames) {
	case 0:
	case 1:
		open.Text = "column " + inputerr.Quote(openNames[0]) + ": did you set it, or measure it? kir takes it as measured"
		questions = append(questions, open)
	default:
		open.Text = "columns " + inputerr.List(openNames, 12) + ": did you set them, or measure them? kir takes them as measured"
		questions = append(questions, open)
	}
	if len(names) > 0 {
		set.Text = "column " + inputerr.Quote(names[0]) + " is taken as a condition, which you set for each trial, and not as measured"
		if len(names) > 1 {
			set.Text = "columns " + inputerr.List(names, 12) + " are taken as conditions, which you set for each trial, and not as measured"
		}
		questions = append([]TableQuestion{set}, questions...)
	}
	return questions
}
