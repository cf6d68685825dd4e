package paper

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"kir/internal/report/figure"
	"kir/internal/report/number"
	"kir/internal/report/view"
)

//go:embed page.html
var pageText string

// page is the template of paper.html. All text goes through its escaping, but
// for the pictures, which are SVG of our own.
var page = template.Must(template.New("paper.html").Funcs(template.FuncMap{
	"fixed":     number.Typeset,
	"number":    numberTag,
	"signed":    signedTag,
	"machine":   number.Full,
	"paper":     publishedTag,
	"thousands": number.Commas,
	"count":     number.Thousands[int],
	"file":      fileName,
	"text":      view.Shown,
}).Parse(pageText))

// numberTag writes a number for people, and in full for programs.
func numberTag(x any, digits int) (template.HTML, error) {
	switch x := x.(type) {
	case float64:
		text := number.Power(x, digits)
		if digits == 0 && x >= 0 {
			text = number.Commas(text)
		}
		return template.HTML(`<data value="` + number.Full(x) + `">` + text + `</data>`), nil
	case int:
		return template.HTML(`<data value="` + strconv.Itoa(x) + `">` + number.Thousands(x) + `</data>`), nil
	}
	return "", fmt.Errorf("%T is no number", x)
}

// signedTag is numberTag with a sign and a fixed number of digits.
func signedTag(x float64, digits int) template.HTML {
	text := number.Typeset(x, digits)
	if x > 0 && text != number.Typeset(0, digits) {
		text = "+" + text
	}
	return template.HTML(`<data value="` + number.Full(x) + `">` + text + `</data>`)
}

// publishedTag writes the paper's figure, or a dash.
func publishedTag(r Row) template.HTML {
	if r.Paper == nil {
		return `<span aria-label="not available to us">–</span>`
	}
	text := `<data value="` + number.Full(*r.Paper) + `">` + number.Typeset(*r.Paper, 2) + `</data>`
	if r.PaperSD != nil {
		text += ` ± <data value="` + number.Full(*r.PaperSD) + `">` + number.Typeset(*r.PaperSD, 3) + `</data>`
	}
	return template.HTML(text)
}

// pageView is what the page shows beside the report itself.
type pageView struct {
	Report      *Report
	Light, Dark template.CSS // the colours of figures
	Style       template.CSS // what else figures need
	Degrees     int
	Rates       []rateView
	Multinomial []rateView
	Histograms  []figureView
	Cocktail    []figureView
	NaiveFit    []fitView
	GibbsPaper  []Row
	OwnLarge    float64
	SDNote      string
}

// rateView is a table of rates, by target.
type rateView struct {
	Table   Table
	Caption string
	Column  string // whose figures the paper's are
	Groups  []rateGroup
}

type rateGroup struct {
	Target, Formula string
	Rows            []rowView
}

type rowView struct {
	Row
	Stuck bool // no sequence ever moved
	Off   bool // more standard errors off than the limit
}

// fitView holds the paper's naive column against a sampler.
type fitView struct {
	Row
	Off float64
}

type figureView struct {
	Name    string
	Caption string
	SVG     template.HTML
}

// WriteHTML writes paper.html with the given pictures, which are the report's:
// one file that needs no other, no network and no script.
func (r *Report) WriteHTML(w io.Writer, pictures []*figure.Figure) error {
	light, dark := figure.Variables()
	v := pageView{Report: r, Degrees: r.Sequences - 1, Light: template.CSS(light), Dark: template.CSS(dark), Style: template.CSS(figure.Style())}
	for _, t := range r.Tables {
		size, multinomial := strings.CutSuffix(t.Name, multinomialSuffix)
		table := rateView{Table: t, Column: "paper", Caption: strings.ToUpper(size[:1]) + size[1:], Groups: r.groups(t)}
		if multinomial {
			table.Column, table.Caption = "paper’s naive", "Units thrown into ingredients, "+size
			v.Multinomial = append(v.Multinomial, table)
		} else {
			v.Rates = append(v.Rates, table)
		}
	}
	formulas := map[string]string{}
	for _, s := range Settings() {
		for _, l := range s.Targets {
			formulas["figure1-"+fileName(l.Name)] = fmt.Sprintf("Figure 1, target %s: %s, N = %d, M = %d. Mean over %d sequences, error bars one standard deviation. The two rows have scales of their own.", l.Name, l.Formula, s.N, s.Total, r.Sequences)
			if row, ok := r.row(l.Name, KernelGibbs, Updated); ok {
				v.GibbsPaper = append(v.GibbsPaper, row)
			}
		}
	}
	for _, p := range pictures {
		f := figureView{Name: p.Name, SVG: template.HTML(p.SVG())}
		if caption, ok := formulas[p.Name]; ok {
			f.Caption = caption
			v.Histograms = append(v.Histograms, f)
			continue
		}
		switch p.Name {
		case ratioName:
			f.Caption = "Figure 3: the composition ratios side by side. Parts that are too narrow have no number; the table above has all."
		case productName:
			f.Caption = fmt.Sprintf("Figure 4: the product of the two probabilities over %d sequences each of random compositions, drawn from the book’s law of n, and of states of the chain. Mean of the sequences, error bars one standard deviation.", r.Sequences)
		}
		v.Cocktail = append(v.Cocktail, f)
	}
	v.NaiveFit = r.naiveFit()
	v.OwnLarge = r.ownMean("large d")
	v.SDNote = r.sdNote()
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("paper.html: %w", err)
	}
	return nil
}

// groups sorts a table's rows by target.
func (r *Report) groups(t Table) []rateGroup {
	formulas := map[string]string{}
	for _, s := range Settings() {
		for _, l := range s.Targets {
			formulas[l.Name] = l.Formula
		}
	}
	var groups []rateGroup
	for _, row := range t.Rows {
		if len(groups) == 0 || groups[len(groups)-1].Target != row.Target {
			groups = append(groups, rateGroup{Target: row.Target, Formula: formulas[row.Target]})
		}
		g := &groups[len(groups)-1]
		v := rowView{Row: row, Off: math.Abs(row.Z) > zLimit}
		for _, f := range r.Figures {
			if f.Target == row.Target && f.Kernel == row.Kernel {
				v.Stuck = f.Stuck == r.Sequences
			}
		}
		g.Rows = append(g.Rows, v)
	}
	return groups
}

// naiveFit holds the paper's naive column against three samplers.
func (r *Report) naiveFit() []fitView {
	var all []fitView
	for _, s := range Settings() {
		for _, l := range s.Targets {
			p := naiveColumn(l.Name, Accepted)
			if p.Mean == nil || p.SD == nil {
				continue
			}
			for _, kernel := range []string{KernelNaive, KernelMultinomial, KernelUncorrected} {
				row, ok := r.row(l.Name, kernel, Accepted)
				if !ok {
					continue
				}
				row.Paper, row.PaperSD = p.Mean, p.SD
				all = append(all, fitView{row, (*p.Mean - row.Exact) / (*p.SD / math.Sqrt(sequenceCount))})
			}
		}
	}
	return all
}

// ownMean returns the mean n of the law that the uncorrected chain follows.
func (r *Report) ownMean(target string) float64 {
	mean := 0.0
	for _, f := range r.Figures {
		if f.Target != target || f.Kernel != KernelUncorrected {
			continue
		}
		for _, s := range f.Sizes {
			if s.Own != nil {
				mean += float64(float64(s.N) * *s.Own)
			}
		}
	}
	return mean
}

// sdNote compares the paper's standard deviations of accelerated with ours.
func (r *Report) sdNote() string {
	text := ""
	for _, s := range Settings() {
		for _, l := range s.Targets {
			row, ok := r.row(l.Name, KernelAccelerated, Accepted)
			if !ok || row.PaperSD == nil || !(row.SD > 4**row.PaperSD) || r.Divide > 1 {
				continue
			}
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("%s: %s in the paper, %s here", l.Name, number.Typeset(*row.PaperSD, 3), number.Typeset(row.SD, 3))
		}
	}
	if text == "" {
		return ""
	}
	return "The paper’s standard deviations of the accepted rates of accelerated are far smaller than ours (" + text + ", in points), and smaller than independent sequences of that length can have. We do not know what they are deviations of."
}
