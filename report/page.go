package report

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
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"kir/report/figure"
	"kir/run"
)

// PageName is the file of a run's directory that holds the page.
const PageName = "report.html"

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

const (
	// pageIngredients is how many ingredients the page's table has.
	pageIngredients = 2500
	// pageClasses is up to how many classes a confusion matrix is shown.
	pageClasses = 40
)

// page is the template of report.html. Everything goes through its escaping but
// for figures, which are SVG of our own, and numbers.
var page = template.Must(template.New(PageName).Funcs(template.FuncMap{
	"at":        pointer,
	"num":       numberTag,
	"text":      shown,
	"thousands": thousands,
	"counted":   counted,
	"inc":       func(k int) int { return k + 1 },
	"plain":     plain,
	"of":        func(page *pageView, item any) itemView { return itemView{page, item} },
	"meaning":   importanceMeaning,
	"reasons":   reasons,
}).Parse(pageText))

// pointer returns the JSON Pointer (RFC 6901) of a figure in summary.json.
func pointer(path ...any) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(p), "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// numberTag writes a figure of the model for people, and for programs in full,
// with its place in summary.json.
func numberTag(pointer string, v any, style string) (template.HTML, error) {
	write, ok := styles[style]
	if !ok {
		return "", fmt.Errorf("%q is no style of numbers", style)
	}
	return dataTag(pointer, v, write)
}

// styles are how figures are written.
var styles = map[string]func(v float64) string{
	"percent":  func(v float64) string { return decimals(100*v, 1) },
	"percent2": func(v float64) string { return decimals(100*v, 2) },
	"two":      func(v float64) string { return decimals(v, 2) },
	"three":    number,
	"four":     func(v float64) string { return decimals(v, 4) },
	"short":    short,
	"error":    errorText,
	"whole":    func(v float64) string { return thousands(int(v)) },
}

// dataTag is numberTag with any style.
func dataTag(pointer string, v any, write func(v float64) string) (template.HTML, error) {
	var f float64
	switch v := v.(type) {
	case Number:
		f = float64(v)
	case float64:
		f = v
	case int:
		f = float64(v)
	case int64:
		f = float64(v)
	default:
		return "", fmt.Errorf("%T is no number", v)
	}
	of := `" data-of="` + html.EscapeString(pointer) + `">`
	if !Number(f).Known() {
		return template.HTML(`<data value="` + of + `<abbr title="unknown">?</abbr></data>`), nil
	}
	return template.HTML(`<data value="` + plain(f) + of + html.EscapeString(write(f)) + `</data>`), nil
}

// plain writes a number in full.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// reasons lists why figures are unknown, those with one reason together.
func reasons(why map[string]string) []string {
	words := []struct{ name, text string }{
		{"mean", "mean"}, {"sd", "sd"}, {"q5", "5 % quantile"}, {"median", "median"}, {"q95", "95 % quantile"},
		{"mcse_mean", "± of the mean"}, {"mcse_q5", "± of the 5 % quantile"}, {"mcse_median", "± of the median"}, {"mcse_q95", "± of the 95 % quantile"},
		{"ess_mean", "ESS of the mean"}, {"ess_bulk", "bulk ESS"}, {"ess_tail", "tail ESS"}, {"rhat", "R-hat"},
	}
	var order []string
	of := make(map[string][]string)
	for _, w := range words {
		if reason, ok := why[w.name]; ok {
			if of[reason] == nil {
				order = append(order, reason)
			}
			of[reason] = append(of[reason], w.text)
		}
	}
	var list []string
	for _, reason := range order {
		list = append(list, strings.Join(of[reason], ", ")+" ("+reason+")")
	}
	return list
}

// shown makes text from a book fit to be shown: control characters, and those
// that turn the direction of writing against what the letters ask for, are
// escaped.
func shown(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pageView is what the template sees.
type pageView struct {
	*Model
	Policy   string
	Style    template.CSS
	Script   template.JS
	Sampled  string
	BestList []cardView
	Various  []cardView
	Sorted   []sortedInclusion
	Left     int // ingredients that the table leaves out
	Law      []lawRow
	LawLeft  int

	figures map[string]*figure.Figure
}

// itemView is what a template within the template sees.
type itemView struct {
	Page *pageView
	Item any
}

// cardView is a composition of the shortlist.
type cardView struct {
	placed
	List    string // its list in summary.json
	Figure  string
	Swatch  []swatchPart
	Columns bool // the parts are set in columns
	AtBound int
}

// SharedWith names the ingredients that the composition shares with a recipe.
func (c cardView) SharedWith(n Nearest) []string { return c.shared(n) }

// more says whether the composition has more parts than that, with names that are
// short enough for two columns of them.
func (c cardView) more(parts int) bool {
	longest := 0
	for name := range c.Recipe {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return len(c.Recipe) > parts && longest <= 24
}

// manyParts is above how many parts a list of them is set in columns, and fewParts
// if it stands beside such a one.
const manyParts, fewParts = 12, 6

// Wide says whether the cards of a list need more room than usual.
func (v *pageView) Wide(cards []cardView) bool {
	return slices.ContainsFunc(cards, func(c cardView) bool { return c.Columns })
}

// SomeLeftOut says whether the list of diverse compositions leaves out some that
// are shown among the best.
func (v *pageView) SomeLeftOut() bool {
	for k, c := range v.Various {
		if c.Place > k {
			return true
		}
	}
	return false
}

// Kept says that the rules are kept.
func (v *pageView) Kept() string {
	switch n := len(v.Problem.Rules); n {
	case 1:
		return "The rule is kept"
	case 2:
		return "Both rules are kept"
	default:
		return fmt.Sprintf("All %s are kept", counted(n, "rule"))
	}
}

// ScoresEach says whether the scores of the wishes say more than the score.
func (v *pageView) ScoresEach() bool { return v.scoresEach() }

// ScoreOf writes the score of a wish.
func (v *pageView) ScoreOf(pointer string, w Property, score any) (template.HTML, error) {
	return dataTag(pointer, score, func(f float64) string { return scoreText(f, w.Weight) })
}

// swatchPart is a part of a composition with its colour.
type swatchPart struct {
	NamedPart
	Fill string
}

// sortedInclusion is an ingredient with its place in the model.
type sortedInclusion struct {
	Inclusion
	Place int
}

// lawRow is a size with its place in the model.
type lawRow struct {
	Size
	Place int
}

// Measured says whether rules were measured, so that the law of n has an error.
func (v *pageView) Measured() bool { return len(v.Sparsity) > 0 && v.Sparsity[0].Share != nil }

// Weighs says whether a property counts.
func (v *pageView) Weighs() bool { return v.weighs() }

// Figure returns a figure as part of the page, or nothing if the run has none of
// that name.
func (v *pageView) Figure(name string) template.HTML {
	f := v.figures[name]
	if f == nil {
		return ""
	}
	return template.HTML(f.SVG())
}

// FigureTitle returns the title of a figure, empty if there is none.
func (v *pageView) FigureTitle(name string) string {
	if f := v.figures[name]; f != nil {
		return f.Title
	}
	return ""
}

// SlackRule returns the text of the rule that a slack is of.
func (v *pageView) SlackRule(s Slack) string { return v.Problem.Rules[s.Rule] }

// Text says how close the composition comes to the rule's bound.
func (s Slack) Text() string { return s.text() }

// AtBound says whether the bound is met.
func (s Slack) AtBound() bool { return strings.HasSuffix(s.text(), atBound) }

// Amount writes mean units as a percentage of the total.
func (v *pageView) Amount(pointer string, units any) (template.HTML, error) {
	return dataTag(pointer, units, func(f float64) string { return decimals(100*f/float64(v.Problem.Total), 1) })
}

// Part writes the units of a part as a percentage of the total.
func (v *pageView) Part(pointer string, units int) (template.HTML, error) {
	return dataTag(pointer, units, func(float64) string { return share(units, v.Problem.Total) })
}

// ShownChains returns the chains whose rates the page tells.
func (v *pageView) ShownChains() []Chain { return v.Chains[:min(len(v.Chains), shownChains)] }

// Confusion says whether the confusion matrix of a forest can be shown.
func (p Property) Confusion() bool {
	return p.Forest != nil && p.Forest.Quality.Classes != nil && len(p.Forest.Classes) <= pageClasses
}

// view returns what the template sees of the model.
func (m *Model) view() *pageView {
	v := &pageView{Model: m, Sampled: m.sampled(), figures: make(map[string]*figure.Figure)}
	onLight, onDark := figure.Variables()
	style := strings.NewReplacer("LIGHT", onLight, "DARK", onDark, "FIGURES", figure.Style()).Replace(pageStyle)
	v.Style, v.Script = template.CSS(style), template.JS(pageScript)
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	v.Policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src " + hash(pageScript)

	for _, f := range m.Figures() {
		v.figures[f.Name] = f
	}
	best, various := m.shortlists(pageBest, pageDiverse)
	colours := coloursOf(slices.Concat(best, various))
	cards := func(list []placed, name string) []cardView {
		var cards []cardView
		for _, b := range list {
			c := cardView{placed: b, List: name, Figure: fmt.Sprintf("%s-%d", name, b.Place+1)}
			for _, part := range b.Parts() {
				fill, _ := colours[part.Ingredient].Hex()
				c.Swatch = append(c.Swatch, swatchPart{part, fill})
			}
			for _, s := range b.Slack {
				if s.AtBound() {
					c.AtBound++
				}
			}
			cards = append(cards, c)
		}
		if slices.ContainsFunc(cards, func(c cardView) bool { return c.more(manyParts) }) {
			for k := range cards {
				cards[k].Columns = cards[k].more(fewParts)
			}
		}
		return cards
	}
	v.BestList, v.Various = cards(best, "best"), cards(various, "diverse")

	places := make(map[string]int, len(m.Inclusion))
	for k, i := range m.Inclusion {
		places[i.Ingredient] = k
	}
	sorted := m.SortedInclusion()
	v.Left = max(0, len(sorted)-pageIngredients)
	for _, i := range sorted[:min(len(sorted), pageIngredients)] {
		v.Sorted = append(v.Sorted, sortedInclusion{i, places[i.Ingredient]})
	}
	shown := m.shownLaw()
	for k, s := range m.Sparsity {
		if len(shown) > 0 && s.N >= shown[0].N && s.N <= shown[len(shown)-1].N && len(v.Law) < pageSizes {
			v.Law = append(v.Law, lawRow{s, k})
		}
	}
	v.LawLeft = len(m.Sparsity) - len(v.Law)
	return v
}

// pageSizes is how many numbers of ingredients the page's table has.
const pageSizes = 500

// WritePage writes the report as a page: one HTML file that needs no other, no
// network and no scripts.
func (m *Model) WritePage(w io.Writer) error {
	var b bytes.Buffer
	if err := page.Execute(&b, m.view()); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// PageIsFresh says whether report.html, in the run's store, was made of the
// draws that the model was.
func (m *Model) PageIsFresh(ctx context.Context, store run.Store) (bool, error) {
	data, err := store.Read(ctx, PageName, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
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
func (m *Model) SavePage(ctx context.Context, store run.Store) error {
	var b bytes.Buffer
	if err := m.WritePage(&b); err != nil {
		return err
	}
	return store.Replace(ctx, PageName, b.Bytes())
}
