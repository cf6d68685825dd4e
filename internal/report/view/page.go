package view

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
	"kir/internal/report/pagestyle"
	"kir/internal/run"
	"kir/internal/terminal"
)

// PageName is the name of the page of a report in the run's directory.
const PageName = "report.html"

var (
	//go:embed page.html
	pageHTML string // text of the template of report.html
	//go:embed page.js
	pageScript string // JavaScript of report.html
)

const (
	// maxPageIngredients is the largest number of rows in the page's table of ingredients;
	// maxPageSizes is that in its table of the number of ingredients.
	maxPageIngredients, maxPageSizes = 2500, 500
	// maxPageClasses is the largest number of classes for which the page shows a confusion matrix.
	maxPageClasses = 40
)

// pageTemplate is the template of report.html. It escapes everything except numbers, and figures,
// which are SVG elements made by this program.
var pageTemplate = template.Must(template.New(PageName).Funcs(template.FuncMap{
	"at":        jsonPointer,
	"num":       numberTag,
	"text":      Shown,
	"thousands": number.Thousands[int],
	"counted":   number.CountWithNoun,
	"inc":       func(k int) int { return k + 1 },
	"plain":     number.RoundTrip,
	"meaning":   importanceMeaning,
	"reasons":   unknownReasonLines,
	"label":     run.StatisticLabel,
	"chains":    func(l []run.ChainResult) []run.ChainResult { return l[:min(len(l), maxFigureChains)] },
	"ladders":   func(l []run.Ladder) []run.Ladder { return l[:min(len(l), maxFigureChains)] },
	"confusion": func(f *report.Forest) bool { return f.Quality.Classes != nil && len(f.Classes) <= maxPageClasses },
	"slack":     slackText,
	"style":     objectiveNumberStyle,
	"bound":     isAtBound,
	"prefix":    func(w report.Property) string { return strings.TrimSpace(propertyPrefix(w)) },
	"wide":      needsWideCards,
	"trade":     tradeHeading,
}).Parse(pageHTML))

// jsonPointer returns the JSON Pointer (RFC 6901) of a value in summary.json. The parameter path
// lists the names and indices that lead to the value.
func jsonPointer(path ...any) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(p), "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// numberStyles maps the name of a style, as templates use it, to a function that formats a number
// in this style.
var numberStyles = map[string]func(v float64) string{
	"percent":  func(v float64) string { return number.Fixed(float64(100*v), 1) },
	"percent2": func(v float64) string { return number.Fixed(float64(100*v), 2) },
	"two":      func(v float64) string { return number.Fixed(v, 2) },
	"three":    number.ThreeFigures[float64],
	"score":    func(v float64) string { return number.Score(v, 1) },
	"four":     func(v float64) string { return number.Fixed(v, 4) },
	"short":    number.FourFigures[float64],
	"error":    number.Error[float64],
	"whole":    number.RoundedDown[float64],
	"value":    number.Value[float64],
	"share":    number.WholePercent[float64],
}

// numberTag returns an HTML element with a number. People see the number formatted in the given
// style. For programs the element also has the full number and the JSON Pointer of the number in
// summary.json.
func numberTag(pointer string, v any, style string) (template.HTML, error) {
	write, ok := numberStyles[style]
	if !ok {
		return "", fmt.Errorf("%q is no style of numbers", style)
	}
	switch x := reflect.Indirect(reflect.ValueOf(v)); {
	case x.CanFloat():
		return dataTag(pointer, x.Float(), write), nil
	case x.CanInt():
		return dataTag(pointer, float64(x.Int()), write), nil
	}
	return "", fmt.Errorf("%T is no number", v)
}

// dataTag returns an HTML element with a number, as [numberTag] does. The function write formats
// the number for people.
func dataTag(pointer string, v float64, write func(v float64) string) template.HTML {
	of := `" data-of="` + html.EscapeString(pointer) + `">`
	if !report.Number(v).IsKnown() {
		return template.HTML(`<data value="` + of + `<abbr title="unknown">?</abbr></data>`)
	}
	return template.HTML(`<data value="` + number.RoundTrip(v) + of + html.EscapeString(write(v)) + `</data>`)
}

// Shown prepares text from input files for display. It escapes control characters, and characters
// that change the direction of writing.
func Shown(text string) string {
	return terminal.Escape(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
	})
}

// pageView is the data for the template of report.html.
type pageView struct {
	*report.Model
	Policy string       // content security policy of the page
	Style  template.CSS // style sheet
	Script template.JS  // script of the page
	Title  string       // title of the shortlist
	Tie    string       // says that the entries are tied; empty if their scores tell them apart
	Known  *knownCard   // best known recipe; nil if there is none
	Cards  []card       // entries of the shortlist
	Order  []int        // indices, in the field Inclusion, of the listed ingredients, the most frequent first
	Law    []int        // indices, in the field Sparsity, of the listed numbers of ingredients

	figures map[string]*figure.Figure // maps the name of a figure to the figure
}

// Figure returns the figure with the given name and its title as HTML. It returns "" if the run has
// no such figure.
func (v *pageView) Figure(name string) template.HTML {
	f := v.figures[name]
	if f == nil {
		return ""
	}
	return template.HTML("\n<figure>\n<figcaption aria-hidden=\"true\"><strong>" + html.EscapeString(Shown(f.Title)) + "</strong></figcaption>\n" + f.SVG() + "\n</figure>")
}

// Amount returns an HTML element with an amount in units, shown as a percentage of the total. The
// parameter pointer is the JSON Pointer of the amount in summary.json.
func (v *pageView) Amount(pointer string, units report.Number) template.HTML {
	return dataTag(pointer, float64(units), func(f float64) string { return number.Fixed(100*f/float64(v.Problem.Total), 1) })
}

// Part returns HTML with the amount of an ingredient of a recipe, and behind it the percentage if
// the amount is in another unit. The parameter pointer is the JSON Pointer of the amount in
// summary.json.
func (v *pageView) Part(pointer string, part swatch) template.HTML {
	out := dataTag(pointer, float64(part.Amount), func(float64) string { return part.Text })
	if part.Share != "" {
		out += template.HTML(` <span class="soft">` + html.EscapeString(part.Share) + `</span>`)
	}
	return out
}

// maxFirstCards is the largest number of recipes that the page shows unfolded.
const maxFirstCards = 8

// FirstCards returns the entries of the shortlist that the page shows unfolded.
func (v *pageView) FirstCards() []card { return v.Cards[:v.firstCardCount()] }

// MoreCards returns the other entries of the shortlist on the page.
func (v *pageView) MoreCards() []card { return v.Cards[v.firstCardCount():] }

// firstCardCount returns the number of entries that the page shows unfolded. The best known recipe
// takes the place of one.
func (v *pageView) firstCardCount() int {
	most := maxFirstCards
	if v.Known != nil {
		most--
	}
	return min(len(v.Cards), most)
}

// WarningCount returns the number of warnings of the report.
func (v *pageView) WarningCount() int { return len(v.Warnings) }

// Wished returns HTML that says what an entry of the shortlist achieves for a property: the
// prediction with its interval, the values that the property computes, or the score. It returns ""
// if the score of the property is the total score of the entry.
func (v *pageView) Wished(place int, w report.Property, b report.Best) template.HTML {
	if q, ok := b.Predicted[w.Name]; ok {
		values := map[string]report.Number{"value": q.Value, "low": q.Low, "high": q.High}
		if q.Expected != nil {
			values["expected"] = *q.Expected
		}
		q.Class, q.Unit = template.HTMLEscapeString(Shown(q.Class)), template.HTMLEscapeString(Shown(q.Unit))
		return template.HTML(predictionText(q, func(figure, text string) string {
			return string(dataTag(jsonPointer("best", place, "predicted", w.Name, figure), float64(values[figure]), func(float64) string { return text }))
		}))
	}
	if len(w.Values) > 0 {
		var list []string
		for _, name := range w.Values {
			value := b.Values[name]
			text := string(dataTag(jsonPointer("best", place, "values", name, "value"), float64(value.Value), func(float64) string { return valueText(value) }))
			if name != w.Name {
				text = template.HTMLEscapeString(Shown(name)) + " " + text
			}
			list = append(list, text)
		}
		return template.HTML(strings.Join(list, ", "))
	}
	if objectiveText(v.Model, w, b) == "" {
		return ""
	}
	return dataTag(jsonPointer("best", place, "scores", w.Name), float64(b.Scores[w.Name]), func(f float64) string { return number.Score(f, w.Weight) })
}

// TradeHeadline returns a sentence that summarises the Pareto front.
func (v *pageView) TradeHeadline() string { return tradeHeadline(v.Tradeoff) }

// TradeSentences returns sentences on the Pareto front: the ranges of the objectives, the knees and
// the quality.
func (v *pageView) TradeSentences() []string { return tradeSentences(v.Tradeoff) }

// TradeFigures returns the figures of the Pareto front as HTML.
func (v *pageView) TradeFigures() (all template.HTML) {
	for _, f := range TradeFigures(v.Tradeoff) {
		all += v.Figure(f.Name)
	}
	return all
}

// ResponseFigures returns the figures, as HTML, that show how the prediction for property k changes
// with amounts and conditions.
func (v *pageView) ResponseFigures(k int) (all template.HTML) {
	for _, f := range propertyResponseFigures(v.Model, k) {
		all += v.Figure(f.Name)
	}
	return all
}

// Recipe returns the recipe at the given index of the Pareto front, as a line of text.
func (v *pageView) Recipe(place int) string {
	return recipeText(v.Tradeoff.Front[place].Parts(), v.Problem.Total)
}

// Traded returns HTML with the value of an objective, and its interval, for the recipe at the given
// index of the Pareto front.
func (v *pageView) Traded(place int, name string) template.HTML {
	value := v.Tradeoff.Front[place].Values[name]
	at := func(figure string) string { return jsonPointer("tradeoff", "front", place, "values", name, figure) }
	o := v.Tradeoff.Objectives[slices.IndexFunc(v.Tradeoff.Objectives, func(o report.Objective) bool { return o.Name == name })]
	write := func(f float64) string { return tradeNumber(report.Number(f), o) }
	out := dataTag(at("value"), float64(value.Value), write)
	if value.Low.IsKnown() && value.High.IsKnown() {
		out += " (" + dataTag(at("low"), float64(value.Low), write) + "–" + dataTag(at("high"), float64(value.High), write) + ")"
	}
	return out
}

// Weak reports whether the answer depends on a weak model.
func (v *pageView) Weak() bool { return v.Model.Answer != nil && v.Model.Answer.Grade == report.Weak }

// Measured reports whether some numbers of compositions are only estimates. The sparsity law then
// has a standard error.
func (v *pageView) Measured() bool { return len(v.Sparsity) > 0 && v.Sparsity[0].Share != nil }

// objectiveNumberStyle returns the name of the style for the numbers of an objective; see
// [numberStyles].
func objectiveNumberStyle(w report.ObjectiveSummary) string {
	switch w.Unit {
	case "value":
		return "value"
	case "probability":
		return "share"
	}
	return "score"
}

// ShownMean returns the mean of the objective with index k over the shortlist, as an HTML element;
// see [shownMean].
func (v *pageView) ShownMean(k int) (template.HTML, error) {
	w := v.Answer.Objectives[k]
	field, mean := shownMean(v.Model, w)
	return numberTag(jsonPointer("answer", "wishes", k, field), mean, objectiveNumberStyle(w))
}

// ScoreError returns the standard error se of a score, whose field in the JSON of
// [report.Comparison] is given, as an HTML element; see [number.ScoreError].
func (v *pageView) ScoreError(field string, score, se report.Number) template.HTML {
	return dataTag(jsonPointer("score", field), float64(se), func(se float64) string { return number.ScoreError(float64(score), se) })
}

// Headline returns the headline of the report.
func (v *pageView) Headline() string {
	text, _ := reportHeadline(v.Model)
	return text
}

// Sure reports whether what the headline says can be relied on without caution.
func (v *pageView) Sure() bool {
	_, sure := reportHeadline(v.Model)
	return sure
}

// Tone returns the CSS class with the colour for the headline: "sound", "short" or "unsound".
func (v *pageView) Tone() string {
	switch {
	case v.Sure():
		return "sound"
	case v.Model.Answer != nil && v.Model.Answer.Grade == report.Weak:
		return "unsound"
	}
	return "short"
}

// MoveMeanings says what each kind of step of a chain does; see [moveMeanings].
func (v *pageView) MoveMeanings() string { return moveMeanings(v.Moves) }

// DrawsHeadline says in a few words how reliable the draws are.
func (v *pageView) DrawsHeadline() string { return drawsHeadline(v.Grade) }

// Kept says that every entry meets all constraints, such as "All 3 constraints are met".
func (v *pageView) Kept() string {
	switch n := len(v.Problem.Rules); n {
	case 1:
		return "The constraint is met"
	case 2:
		return "Both constraints are met"
	default:
		return fmt.Sprintf("All %s are met", number.CountWithNoun(n, "constraint"))
	}
}

// newPageView returns the data of a report for the template of report.html.
func newPageView(m *report.Model) *pageView {
	style := pagestyle.Text()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	v := &pageView{
		Model: m, Style: template.CSS(style), Script: template.JS(pageScript), figures: make(map[string]*figure.Figure),
		Policy: "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src " + hash(pageScript),
	}
	for _, f := range Figures(m) {
		v.figures[f.Name] = f
	}
	list := m.Best[:min(len(m.Best), maxPageEntries)]
	colours := shortlistColours(m, list)
	v.Title, v.Tie, v.Known, v.Cards = shortlistTitle(m), pageTie(m), v.newKnownCard(colours), v.newCards(list, colours)
	v.Order = m.IndicesByFrequency()
	v.Order = v.Order[:min(len(v.Order), maxPageIngredients)]
	for k, to := m.ShownLaw(); k < to && len(v.Law) < maxPageSizes; k++ {
		v.Law = append(v.Law, k)
	}
	return v
}

// Page writes the report on a run as an HTML page. The page is one file that needs no other files
// and no network access.
func Page(w io.Writer, m *report.Model) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, newPageView(m)); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// maxPageBytes is the largest size, in bytes, of a report.html that is read.
const maxPageBytes = 64 << 20

// PageIsFresh reports whether the stored report.html of a run was made from the same draws as the
// report m.
func PageIsFresh(ctx context.Context, store run.Store, m *report.Model) (bool, error) {
	data, err := run.ReadWhole(ctx, store, PageName, maxPageBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, run.ErrDamaged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var list bytes.Buffer
	for _, p := range m.Parts {
		fmt.Fprintf(&list, "%s  %s\n", p.SHA256, p.Name)
	}
	return bytes.Contains(data, []byte("<code>"+template.HTMLEscapeString(list.String())+"</code>")), nil
}

// SavePage writes report.html into the store of a run.
func SavePage(ctx context.Context, store run.Store, m *report.Model) error {
	var b bytes.Buffer
	if err := Page(&b, m); err != nil {
		return err
	}
	return store.Replace(ctx, PageName, b.Bytes())
}

// IsPage reports whether data are the content of a page that kir has written.
func IsPage(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1<<12)], []byte(`<meta name="generator" content="kir `))
}

// ScoreMeaning says what a score is; see the function [scoreMeaning].
func (v *pageView) ScoreMeaning() string { return scoreMeaning(v.Model) }
