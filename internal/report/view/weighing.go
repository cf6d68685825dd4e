package view

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"

	"kir/internal/dataset/sheet"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
)

// Weighing writes a weighing sheet as text.
func Weighing(w io.Writer, s *report.Weighing, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Heading("%s", terminal.EscapeControls(s.Title))
	p.Line("%s, weighed in %s to %s", terminal.EscapeControls(s.Batch), s.Unit, s.Step)
	if set := s.SetText(); set != "" {
		p.WrappedHanging(0, "Set: "+terminal.EscapeControls(set))
	}
	p.Line("")
	p.Line("Lot ______________  Date ______________  By ______________")
	p.Line("")
	head := []string{"", "ingredient", s.Unit, "running", "exact", "%"}
	if s.Cost.IsKnown() {
		head = append(head, "cost")
	}
	t := terminal.NewTable(2, append(head, "lot, notes")...)
	t.SetMaxWidth(1, maxNameLength)
	group := ""
	for _, r := range s.Rows {
		if r.Group != group {
			group = r.Group
			t.Row("", group)
		}
		row := []any{"[ ]", r.Ingredient, r.Amount, r.RunningSum, r.ExactText, r.PercentText}
		if s.Cost.IsKnown() {
			row = append(row, number.Fixed(float64(r.Cost), 2))
		}
		t.Row(append(row, "____________")...)
	}
	sum := []any{"", "sum", s.Sum, "", "", "100"}
	if s.Cost.IsKnown() {
		sum = append(sum, number.Fixed(float64(s.Cost), 2))
	}
	t.Row(sum...)
	p.Table(t)
	for _, note := range s.Notes {
		p.Wrapped(0, terminal.EscapeControls(note))
	}
	return p.Err
}

// WeighingSheet returns a weighing sheet as a table.
func WeighingSheet(s *report.Weighing) *sheet.Sheet {
	out := &sheet.Sheet{Name: "weighing"}
	out.AddRow("group", "ingredient", s.Unit, "running "+s.Unit, "exact "+s.Unit, "percent", "cost", "lot", "notes")
	for _, r := range s.Rows {
		out.AddRow(r.Group, r.Ingredient, sheet.Decimal(r.Amount), sheet.Decimal(r.RunningSum), sheet.Decimal(r.ExactText), sheet.Decimal(r.PercentText), numberCell(r.Cost), nil, nil)
	}
	out.AddRow(nil, "sum", sheet.Decimal(s.Sum), nil, nil, 100, numberCell(s.Cost), nil, nil)
	for _, set := range s.Conditions {
		out.AddRow("set", set.Condition, set.Value)
	}
	return out
}

// weighingStyle is the style sheet of pages with weighing sheets.
const weighingStyle = `
body { font: 16px/1.4 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #111; background: #fff }
h1 { font-size: 1.4rem; margin: 0 }
.blanks { display: flex; flex-wrap: wrap; gap: 1.5rem; margin: 1.5rem 0 }
.blanks span { border-bottom: 1px solid; flex: 1 1 10rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #999; overflow-wrap: anywhere }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.weigh { font-weight: bold; font-size: 1.15rem }
.free { width: 22% }
tbody th { padding-top: 1rem }
tr { break-inside: avoid }
thead { display: table-header-group }
.box { display: inline-block; width: 1rem; height: 1rem; border: 1px solid }
.lines { border-bottom: 1px solid #999; height: 2rem }
section + section { margin-top: 3rem }
@media print { body { margin: 0; max-width: none } section + section { margin: 0; break-before: page } }
`

// WeighingStyleHash returns the SHA-256 of [weighingStyle] in base64, for a content security
// policy.
func WeighingStyleHash() string {
	sum := sha256.Sum256([]byte(weighingStyle))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// weighingTemplate is the template of a page with weighing sheets for printing. The page is one
// file that needs no other files.
var weighingTemplate = template.Must(template.New("weighing").Funcs(template.FuncMap{
	"text": Shown,
	"money": func(v report.Number) string {
		if !v.IsKnown() {
			return ""
		}
		return number.Fixed(float64(v), 2)
	},
}).Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{text .Title}}</title>
<style>` + weighingStyle + `</style>
{{range $k, $s := .Sheets}}<section aria-label="{{text .Title}}">
<h1>{{text .Title}}</h1>
<p>{{text .Batch}}, weighed in {{.Unit}} to {{.Step}}</p>
{{with .SetText}}<p><strong>Set: {{text .}}</strong></p>
{{end}}<p class="blanks"><span>Lot</span><span>Date</span><span>By</span></p>
<table>
<thead><tr><th scope="col"><span class="box"></span></th><th scope="col">Ingredient</th><th scope="col" class="n">{{.Unit}}</th><th scope="col" class="n">Running</th><th scope="col" class="n">%</th>{{if .Cost.IsKnown}}<th scope="col" class="n">Cost</th>{{end}}<th scope="col" class="free">Lot, notes</th></tr></thead>
<tbody>
{{$group := ""}}{{$wide := .Cost.IsKnown}}{{range .Rows}}{{if ne .Group $group}}{{$group = .Group}}<tr><th colspan="{{if $wide}}7{{else}}6{{end}}" scope="rowgroup">{{text .Group}}</th></tr>
{{end}}<tr><td><span class="box"></span></td><td>{{text .Ingredient}}</td><td class="n weigh">{{.Amount}}</td><td class="n">{{.RunningSum}}</td><td class="n">{{.PercentText}}</td>{{if $wide}}<td class="n">{{money .Cost}}</td>{{end}}<td></td></tr>
{{end}}</tbody>
<tfoot><tr><td></td><th scope="row">Sum</th><td class="n weigh">{{.Sum}}</td><td></td><td class="n">100</td>{{if .Cost.IsKnown}}<td class="n">{{money .Cost}}</td>{{end}}<td></td></tr></tfoot>
</table>
{{range .Notes}}<p>{{text .}}</p>
{{end}}{{with $.Labels}}<p class="blanks">{{range .}}<span>{{text .}}</span>{{end}}</p>
{{end}}<p>Notes</p>
<div class="lines"></div><div class="lines"></div><div class="lines"></div>
</section>
{{end}}</html>
`))

// WeighingPage writes a weighing sheet as an HTML page for printing.
func WeighingPage(w io.Writer, s *report.Weighing) error {
	return WeighingPages(w, s.Title, nil, []*report.Weighing{s})
}

// WeighingPages writes weighing sheets as one HTML page for printing, each on its own sheet of
// paper. Each sheet leaves room to write down measurements; the parameter labels names the
// measurements.
func WeighingPages(w io.Writer, title string, labels []string, sheets []*report.Weighing) error {
	return weighingTemplate.Execute(w, struct {
		Title  string
		Labels []string
		Sheets []*report.Weighing
	}{title, labels, sheets})
}
