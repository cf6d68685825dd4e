package view

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"kir/internal/number"
	"kir/internal/report"
)

// Scores that weights make astronomically large are written as powers of ten in the text and on the
// page, with their errors in percent, and on the axis of their histogram.
func TestLargeScoresAreWrittenOneWay(t *testing.T) {
	m := madeOf[report.Model](t, "summary.json")
	m.Score.Draws, m.Score.DrawsMCSE, m.Score.Random, m.Score.RandomSE = 1.31e17, 4.1e15, 2.7e11, 2e11
	m.Score.Histogram = &report.Histogram{Log: true, Edges: []report.Number{-8, 4, 16}, Draws: []report.Number{0, 1}, Random: []report.Number{1, 0}}
	var page bytes.Buffer
	if err := Page(&page, m); err != nil {
		t.Fatal(err)
	}
	seen := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page.String()[strings.Index(page.String(), "<body>"):], " ")
	text := checkText(t, m)
	for name, of := range map[string]string{"page": seen, "text": text} {
		if found := regexp.MustCompile(`.{0,60}\d[eE][+-]\d.{0,20}`).FindString(of); found != "" {
			t.Errorf("the %s writes an exponent: %s", name, found)
		}
		if !strings.Contains(of, "10^17.12") {
			t.Errorf("the %s lacks the mean score", name)
		}
	}
	for _, want := range []string{"3.1 %", "10^15", "10^10", "10^-5"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(seen, "a score from 0 to 1") {
		t.Error("the page says that a score is at most 1")
	}
}

// The mean of an objective in the table of the answer is the mean of what the entries show of it.
func TestTableHasTheFiguresOfTheEntries(t *testing.T) {
	m := madeOf[report.Model](t, "summary.json")
	of := -1
	for k, w := range m.Answer.Objectives {
		if w.Unit == "probability" {
			of = k
		}
	}
	w := &m.Answer.Objectives[of]
	for _, limited := range []bool{false, true} {
		w.Shortlist = 0.88
		expected := report.Number(0.74)
		w.Expected = &expected
		for _, b := range m.Best {
			q := b.Predicted[w.Name]
			q.Value, q.Expected, q.Limited = w.Shortlist, w.Expected, limited
			b.Predicted[w.Name] = q
		}
		want := number.WholePercent(m.Best[0].Predicted[w.Name].Shown())
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(w.Name) + ` .*`).FindString(checkText(t, m))
		var page bytes.Buffer
		if err := Page(&page, m); err != nil {
			t.Fatal(err)
		}
		cell := regexp.MustCompile(`(?s)<table id="table-answer">.*?<bdi>` + regexp.QuoteMeta(w.Name) + `</bdi>.*?</tr>`).FindString(page.String())
		for _, other := range []string{"88 %", "74 %"} {
			if strings.Contains(row, other) != (other == want) || strings.Contains(cell, ">"+other+"<") != (other == want) {
				t.Errorf("limited is %v, the entries show %s, and the tables %q and %q", limited, want, row, cell)
			}
		}
	}
}
