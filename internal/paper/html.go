package paper

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"kir/internal/number"
	"kir/internal/report/figure"
	"kir/internal/report/view"
)

// pageTemplateText is the source of the template of paper.html.
//
//go:embed page.html
var pageTemplateText string

// pageTemplate is the template of paper.html. The template escapes all text except the pictures: those are SVG
// that this program wrote.
var pageTemplate = template.Must(template.New("paper.html").Funcs(template.FuncMap{
	"fixed":     number.Typeset,
	"number":    formatNumber,
	"thousands": number.Commas,
	"count":     number.Thousands[int],
	"file":      fileName,
	"formula":   formulaOf,
	"text":      view.Shown,
	"off":       func(z float64) bool { return math.Abs(z) > zLimit },
	"svg":       func(f *figure.Figure) template.HTML { return template.HTML(f.SVG()) },
}).Parse(pageTemplateText))

// formatNumber writes the number x with the given number of decimal places, as readers want it; paper.json has
// all digits.
func formatNumber(x any, digits int) (string, error) {
	switch x := x.(type) {
	case float64:
		if text := number.Power(x, digits); digits > 0 || x < 0 {
			return text, nil
		}
		return number.Commas(number.Power(x, digits)), nil
	case int:
		return number.Thousands(x), nil
	}
	return "", fmt.Errorf("%T is no number", x)
}

// pageView holds the data from which the template writes the page: the report and more.
type pageView struct {
	*Report
	Light, Dark template.CSS     // colours of the pictures on a light page and on a dark page
	Style       template.CSS     // other styles of the pictures
	Degrees     int              // degrees of freedom of a standard deviation over the sequences
	Histograms  []*figure.Figure // pictures of the paper's figure 1, one for each target
	Cocktail    []*figure.Figure // pictures of the cocktail experiment
}

// Stuck reports whether every sequence of the row's kernel on the row's target stayed at its first composition.
func (v *pageView) Stuck(row Row) bool {
	for _, f := range v.Figures {
		if f.Target == row.Target && f.Kernel == row.Kernel {
			return f.Stuck == v.Sequences
		}
	}
	return false
}

// WriteHTML writes paper.html, a single file without scripts that needs neither other files nor a network. The
// pictures are those that [Report.Pictures] returns.
func (r *Report) WriteHTML(w io.Writer, pictures []*figure.Figure) error {
	light, dark := figure.Variables()
	v := &pageView{Report: r, Degrees: r.Sequences - 1, Light: template.CSS(light), Dark: template.CSS(dark), Style: template.CSS(figure.Style())}
	for _, p := range pictures {
		if p.Name == ratioFigureName || p.Name == productFigureName {
			v.Cocktail = append(v.Cocktail, p)
		} else {
			v.Histograms = append(v.Histograms, p)
		}
	}
	if err := pageTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("paper.html: %w", err)
	}
	return nil
}
