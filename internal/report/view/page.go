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
	"kir/internal/run"
	"kir/internal/terminal"
)

// PageName is the name of the file in a run's directory that holds the page.
const PageName = "report.html"

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

const (
	// maxPageIngredients is the largest number of ingredients in the page's table of ingredients.
	// maxPageSizes is the largest number of rows in the page's table of the number of ingredients.
	maxPageIngredients, maxPageSizes = 2500, 500
	// maxPageClasses is the largest number of classes for which the page shows a confusion matrix.
	maxPageClasses = 40
)

// pageTemplate is the template of report.html. The template escapes everything except figures,
// which are SVG made by this program, and numbers.
var pageTemplate = template.Must(template.New(PageName).Funcs(template.FuncMap{
	"at":        jsonPointer,
	"num":       numberTag,
	"text":      Shown,
	"thousands": number.Thousands[int],
	"counted":   number.CountWithNoun,
	"inc":       func(k int) int { return k + 1 },
	"plain":     number.RoundTrip,
	"meaning":   importanceMeaning,
	"reasons":   reasonLines,
	"chains":    func(l []run.ChainResult) []run.ChainResult { return l[:min(len(l), maxFigureChains)] },
	"ladders":   func(l []run.Ladder) []run.Ladder { return l[:min(len(l), maxFigureChains)] },
	"confusion": func(f *report.Forest) bool { return f.Quality.Classes != nil && len(f.Classes) <= maxPageClasses },
	"slack":     slackText,
	"style":     objectiveStyle,
	"bound":     isAtBound,
	"wide":      needsWideCards,
}).Parse(pageHTML))

// jsonPointer returns the JSON Pointer (RFC 6901) of a number in summary.json.
func jsonPointer(path ...any) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(p), "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// numberStyles holds the ways to format a number, by the names that templates use.
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

// numberTag returns an HTML element with a number in the given style for people, and with the full
// number and its JSON Pointer in summary.json for programs.
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

// dataTag returns the element that [numberTag] describes, with the number formatted by the function
// write.
func dataTag(pointer string, v float64, write func(v float64) string) template.HTML {
	of := `" data-of="` + html.EscapeString(pointer) + `">`
	if !report.Number(v).IsKnown() {
		return template.HTML(`<data value="` + of + `<abbr title="unknown">?</abbr></data>`)
	}
	return template.HTML(`<data value="` + number.RoundTrip(v) + of + html.EscapeString(write(v)) + `</data>`)
}

// Shown escapes control characters in text from input files, and characters that reverse the
// direction of writing.
func Shown(text string) string {
	return terminal.Escape(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
	})
}

// pageView is the data of the template of report.html.
type pageView struct {
	*report.Model
	Policy  string
	Style   template.CSS
	Script  template.JS
	Sampled string
	Title   string // title of the shortlist
	Cards   []card
	Order   []int // indices of the listed ingredients in Inclusion, the most frequent first
	Law     []int // indices of the listed numbers of ingredients in Sparsity

	figures map[string]*figure.Figure
}

// Figure returns the figure with the given name and its title, or "" if the run has no such figure.
func (v *pageView) Figure(name string) template.HTML {
	f := v.figures[name]
	if f == nil {
		return ""
	}
	return template.HTML("\n<figure>\n<figcaption aria-hidden=\"true\"><strong>" + html.EscapeString(Shown(f.Title)) + "</strong></figcaption>\n" + f.SVG() + "\n</figure>")
}

// Amount returns an HTML element with a mean number of units as a percentage of the total.
func (v *pageView) Amount(pointer string, units report.Number) template.HTML {
	return dataTag(pointer, float64(units), func(f float64) string { return number.Fixed(100*f/float64(v.Problem.Total), 1) })
}

// Part returns an HTML element with the amount of a part as a percentage.
func (v *pageView) Part(pointer string, part swatch) template.HTML {
	return dataTag(pointer, float64(part.Amount), func(float64) string { return part.Share })
}

// Wished returns HTML with an entry's result for an objective: the prediction with its interval,
// the values of the property, or the score. It returns "" if the text would only repeat the entry's
// total score.
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

// TradeHeadline summarises the trade-off in a sentence.
func (v *pageView) TradeHeadline() string { return tradeHeadline(v.Tradeoff) }

// TradeSentences returns sentences on the extent of the front, its knees and its quality.
func (v *pageView) TradeSentences() []string { return tradeSentences(v.Tradeoff) }

// TradeFigures returns the figures of the trade-off.
func (v *pageView) TradeFigures() (all template.HTML) {
	for _, f := range TradeFigures(v.Tradeoff) {
		all += v.Figure(f.Name)
	}
	return all
}

// Recipe returns the recipe of a point of the front as a line of text.
func (v *pageView) Recipe(place int) string {
	return recipeText(v.Tradeoff.Front[place].Parts(), v.Problem.Total)
}

// Traded returns HTML with the value of an objective for a point of the front, with its interval.
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

// Measured reports whether the number of compositions is an estimate for some number of
// ingredients, so that the sparsity law has an error.
func (v *pageView) Measured() bool { return len(v.Sparsity) > 0 && v.Sparsity[0].Share != nil }

// objectiveStyle returns the style of an objective's numbers; see [numberStyles].
func objectiveStyle(w report.ObjectiveSummary) string {
	switch w.Unit {
	case "value":
		return "value"
	case "probability":
		return "share"
	}
	return "three"
}

// Headline returns the text to read first.
func (v *pageView) Headline() string {
	text, _ := reportHeadline(v.Model)
	return text
}

// Sure reports whether the headline needs no caution.
func (v *pageView) Sure() bool {
	_, sure := reportHeadline(v.Model)
	return sure
}

// Tone returns the colour class of the answer: "sound", "short" or "unsound".
func (v *pageView) Tone() string {
	switch {
	case v.Sure():
		return "sound"
	case v.Model.Answer != nil && v.Model.Answer.Grade == report.Weak:
		return "unsound"
	}
	return "short"
}

// DrawsHeadline says in a few words how reliable the draws are.
func (v *pageView) DrawsHeadline() string { return drawsHeadline(v.Grade) }

// DrawsTone returns the colour class of the draws. Sound draws are not green if the answer needs
// caution.
func (v *pageView) DrawsTone() string {
	if v.Grade == report.Sound && !v.Sure() {
		return "plain"
	}
	return string(v.Grade)
}

// Kept says that the composition keeps all constraints, such as "All 3 rules are kept".
func (v *pageView) Kept() string {
	switch n := len(v.Problem.Rules); n {
	case 1:
		return "The rule is kept"
	case 2:
		return "Both rules are kept"
	default:
		return fmt.Sprintf("All %s are kept", number.CountWithNoun(n, "rule"))
	}
}

// Style returns the style sheet of pages: of the report, and of kir serve, which adds styles for
// its tools.
func Style() string {
	onLight, onDark := figure.Variables()
	return strings.NewReplacer("LIGHT", onLight, "DARK", onDark, "FIGURES", figure.Style()).Replace(pageStyle)
}

// newPageView returns the data of the page's template for a model.
func newPageView(m *report.Model) *pageView {
	style := Style()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	v := &pageView{
		Model: m, Sampled: samplerText(m), Style: template.CSS(style), Script: template.JS(pageScript), figures: make(map[string]*figure.Figure),
		Policy: "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src " + hash(pageScript),
	}
	for _, f := range Figures(m) {
		v.figures[f.Name] = f
	}
	list := m.Best[:min(len(m.Best), maxPageEntries)]
	v.Title, v.Cards = shortlistTitle(m), v.newCards(list, assignColours(list))
	v.Order = m.IndicesByFrequency()
	v.Order = v.Order[:min(len(v.Order), maxPageIngredients)]
	for k, to := m.ShownLaw(); k < to && len(v.Law) < maxPageSizes; k++ {
		v.Law = append(v.Law, k)
	}
	return v
}

// Page writes the report on a run as a self-contained HTML page, which needs no network access.
func Page(w io.Writer, m *report.Model) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, newPageView(m)); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// maxPageBytes is the largest size of a page that is read.
const maxPageBytes = 64 << 20

// PageIsFresh reports whether report.html in the run's store was made from the same draws as the
// model.
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

// SavePage writes report.html into the run's store.
func SavePage(ctx context.Context, store run.Store, m *report.Model) error {
	var b bytes.Buffer
	if err := Page(&b, m); err != nil {
		return err
	}
	return store.Replace(ctx, PageName, b.Bytes())
}

// IsPage reports whether the data of a file are a page written by kir.
func IsPage(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1<<12)], []byte(`<meta name="generator" content="kir `))
}
