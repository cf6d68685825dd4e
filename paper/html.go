package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
)

//go:embed page.html
var pageText string

// page is the template of paper.html. All text goes through its escaping, but
// for the pictures, which are SVG of our own.
var page = template.Must(template.New("paper.html").Funcs(template.FuncMap{
	"fixed":     decimals,
	"number":    numberTag,
	"signed":    signedTag,
	"machine":   machine,
	"paper":     publishedTag,
	"thousands": thousands,
	"count":     func(n int) string { return thousands(strconv.Itoa(n)) },
	"file":      fileName,
	"text":      shown,
}).Parse(pageText))

// machine writes a number in full, as JSON has it.
func machine(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// numberTag writes a number for people, and in full for programs.
func numberTag(x any, digits int) (template.HTML, error) {
	switch x := x.(type) {
	case float64:
		text := quantity(x, digits)
		if digits == 0 && x >= 0 {
			text = thousands(text)
		}
		return template.HTML(`<data value="` + machine(x) + `">` + text + `</data>`), nil
	case int:
		return template.HTML(`<data value="` + strconv.Itoa(x) + `">` + thousands(strconv.Itoa(x)) + `</data>`), nil
	}
	return "", fmt.Errorf("%T is no number", x)
}

// signedTag is numberTag with a sign and a fixed number of digits.
func signedTag(x float64, digits int) template.HTML {
	text := decimals(x, digits)
	if x > 0 && text != decimals(0, digits) {
		text = "+" + text
	}
	return template.HTML(`<data value="` + machine(x) + `">` + text + `</data>`)
}

// publishedTag writes the paper's figure, or a dash.
func publishedTag(r Row) template.HTML {
	if r.Paper == nil {
		return `<span aria-label="not available to us">–</span>`
	}
	text := `<data value="` + machine(*r.Paper) + `">` + decimals(*r.Paper, 2) + `</data>`
	if r.PaperSD != nil {
		text += ` ± <data value="` + machine(*r.PaperSD) + `">` + decimals(*r.PaperSD, 3) + `</data>`
	}
	return template.HTML(text)
}

// view is what the page shows beside the report itself.
type view struct {
	Report      *Report
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
func (r *Report) WriteHTML(w io.Writer, pictures []Picture) error {
	v := view{Report: r, Degrees: r.Sequences - 1}
	for _, t := range r.Tables {
		size, multinomial := strings.CutSuffix(t.Name, multinomialSuffix)
		view := rateView{Table: t, Column: "paper", Caption: strings.ToUpper(size[:1]) + size[1:], Groups: r.groups(t)}
		if multinomial {
			view.Column, view.Caption = "paper’s naive", "Units thrown into ingredients, "+size
			v.Multinomial = append(v.Multinomial, view)
		} else {
			v.Rates = append(v.Rates, view)
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
		f := figureView{Name: p.Name, SVG: inline(p)}
		if caption, ok := formulas[p.Name]; ok {
			f.Caption = caption
			v.Histograms = append(v.Histograms, f)
			continue
		}
		switch p.Name {
		case ratioName:
			f.Caption = "Figure 3: the composition ratios side by side. Numbers of shared ingredients are bold; parts below 5 % have none."
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
				mean += float64(s.N) * *s.Own
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
			text += fmt.Sprintf("%s: %s in the paper, %s here", l.Name, decimals(*row.PaperSD, 3), decimals(row.SD, 3))
		}
	}
	if text == "" {
		return ""
	}
	return "The paper’s standard deviations of the accepted rates of accelerated are far smaller than ours (" + text + ", in points), and smaller than independent sequences of that length can have. We do not know what they are deviations of."
}

// inline makes a picture part of a page: without the head of a document, and
// with its text for who cannot see it.
func inline(p Picture) template.HTML {
	svg := p.SVG
	if k := bytes.Index(svg, []byte("<svg ")); k >= 0 {
		svg = svg[k+len("<svg "):]
	}
	return template.HTML(`<svg role="img" aria-label="` + html.EscapeString(p.Text) + `" ` + string(svg))
}
