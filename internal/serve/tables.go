package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"kir/internal/dataset/sheet"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/terminal"
)

// errNotFinished is the error for a request of results that the run of a step does not have yet.
var errNotFinished = &inputerr.Error{Message: "the run is not done yet", Hint: "wait until the page says that it is up to date"}

// finishedRun returns the work on the step that a request names, and the results of its run. Without
// a name it is the current step. It returns [errNotFinished] if the run has not finished.
func (s *Session) finishedRun(r *http.Request) (*stepWork, *report.Model, error) {
	w, err := s.requestedWork(r)
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runResults == nil {
		return nil, nil, errNotFinished
	}
	return w, w.runResults, nil
}

// serveTable responds with the shortlist of recipes as CSV.
func (s *Session) serveTable(w http.ResponseWriter, r *http.Request) {
	text, err := func() ([]byte, error) {
		of, m, err := s.finishedRun(r)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		recipes, figures := view.Sheets(m.Best[:min(len(m.Best), maxListRecipes)], m, report.NewIngredientOrder(of.problem.Outline().Attributes, "", ""))
		err = sheet.WriteCSV(&b, view.JoinSheets(recipes, figures))
		return b.Bytes(), err
	}()
	writeResponse(w, "text/csv; charset=utf-8", text, err)
}

// printSecurityPolicy is the content security policy of a page to print. The policy allows inline
// styles and nothing else.
const printSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A WeighingSheet is a weighing sheet of one recipe, as the page shows it in a table.
type WeighingSheet struct {
	*report.Weighing
	Percents  []string `json:"percents"`   // item k is the percentage of row k, as text
	Costs     []string `json:"costs"`      // item k is the cost of row k, as text; empty if the cost of the batch is unknown
	TotalCost string   `json:"total_cost"` // cost of the batch, as text; empty if it is unknown
	IsVolume  bool     `json:"volume"`     // whether the amounts are volumes, which are measured instead of weighed
}

// newWeighingSheet returns what the page shows of a weighing sheet. The parameter units has the
// units of the problem; nil: those that every problem has.
func newWeighingSheet(w *report.Weighing, units *measure.Units) *WeighingSheet {
	if units == nil {
		units = measure.DefaultUnits()
	}
	out := &WeighingSheet{Weighing: w, Percents: []string{}, Costs: []string{}}
	if unit, ok := units.Lookup(w.Unit); ok {
		out.IsVolume = unit.Kind == measure.Volume
	}
	for _, r := range w.Rows {
		out.Percents = append(out.Percents, r.PercentText)
	}
	if w.Cost.IsKnown() {
		out.TotalCost = number.Fixed(float64(w.Cost), 2)
		for _, r := range w.Rows {
			out.Costs = append(out.Costs, number.Fixed(float64(r.Cost), 2))
		}
	}
	return out
}

// serveWeighing responds with the weighing sheet of one recipe, as plain text, JSON, CSV or HTML.
func (s *Session) serveWeighing(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	kind := "text/plain; charset=utf-8"
	text, err := func() ([]byte, error) {
		of, m, err := s.finishedRun(r)
		if err != nil {
			return nil, err
		}
		k, err := strconv.Atoi(q.Get("entry"))
		if err != nil || k < 1 || k > len(m.Best) {
			return nil, &inputerr.Error{Message: "there is no recipe " + inputerr.Quote(q.Get("entry"))}
		}
		outline := of.problem.Outline()
		order := report.NewIngredientOrder(outline.Attributes, "", "")
		sheetOf, err := assemble.Weighing(outline, m.Best[k-1], fmt.Sprintf("%s: recipe %d", m.Problem.Name, k), order,
			assemble.Scale{Batch: q.Get("batch"), Step: q.Get("round"), Unit: q.Get("in"), Density: "density"})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		switch q.Get("as") {
		case "json":
			kind = "application/json"
			err = json.NewEncoder(&b).Encode(newWeighingSheet(sheetOf, outline.Units))
		case "csv":
			kind = "text/csv; charset=utf-8"
			err = sheet.WriteCSV(&b, view.WeighingSheet(sheetOf))
		case "html":
			kind = "text/html; charset=utf-8"
			w.Header().Set("Content-Security-Policy", printSecurityPolicy)
			err = view.WeighingPage(&b, sheetOf)
		default:
			err = view.Weighing(&b, sheetOf, terminal.Style{})
		}
		return b.Bytes(), err
	}()
	writeResponse(w, kind, text, err)
}

// writeResponse writes a text with the given content type as the response. If err is not nil, it
// writes the message of err instead.
func writeResponse(w http.ResponseWriter, contentType string, text []byte, err error) {
	if err != nil {
		http.Error(w, terminal.EscapeControls(err.Error()), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", contentType)
	// An error means that the browser is gone.
	_, _ = w.Write(text)
}
