package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

	"kir/internal/dataset/sheet"
	"kir/internal/inputerr"
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

// serveWeighing responds with the weighing sheet of one recipe, as plain text, CSV or HTML.
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
