package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"testing"

	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/internal/testonly/testmode"
)

// small is a model with something of everything, and little of it.
func small(t testing.TB) *report.Model {
	m := cocktails(t).model
	m.Problem.Rules = []string{"a rule"}
	m.Best, m.Plots, m.Sparsity = m.Best[:1], m.Plots[:1], m.Sparsity[:2]
	m.Answer.Verdict = m.Answer.Verdict[:2]
	for k := range m.Best {
		m.Best[k].Slack = []report.Slack{{Value: 1, Min: 0, Max: 2, Room: 1, Unit: "units"}}
		m.Best[k].Predicted = map[string]report.Prediction{"taste": {Value: 1, Low: 0, High: 2}}
	}
	m.Plots[0].Ranks, m.Plots[0].Trace = m.Plots[0].Ranks[:2], m.Plots[0].Trace[:2]
	for k := range m.Plots[0].Trace {
		m.Plots[0].Trace[k] = m.Plots[0].Trace[k][:3]
	}
	m.Inclusion, m.Score.Histogram.Edges = m.Inclusion[:2], m.Score.Histogram.Edges[:3]
	m.Score.Histogram.Draws, m.Score.Histogram.Random = m.Score.Histogram.Draws[:2], m.Score.Histogram.Random[:2]
	m.Pairs.Together = []report.Pair{{First: "a", Second: "b", Lift: 2, MCSE: 0.1, Expected: 1}}
	m.Properties, m.Parts = m.Properties[:1], m.Parts[:2]
	delete(m.Statistics, "timing")
	f := m.Properties[0].Forest
	f.Importances, f.Responses = f.Importances[:2], f.Responses[:2]
	f.Classes = f.Classes[:3]
	f.Quality.Classes.Confusion = f.Quality.Classes.Confusion[:3]
	for k, row := range f.Quality.Classes.Confusion {
		f.Quality.Classes.Confusion[k] = row[:3]
	}
	for k := range f.Responses {
		f.Responses[k].Points = f.Responses[k].Points[:3]
	}
	m.Moves = []run.Move{{Name: "line", Tried: 1, Rates: run.Rates{Accepted: 1, Updated: 1}}}
	m.Ladders = []run.Ladder{{Scans: 10, Rungs: []run.Rung{{Rejected: 0.5, MeanLogScore: -1}, {Beta: 1, Rejected: report.Number(math.NaN()), Barrier: 0.5, MeanLogScore: -1}}}}
	m.Tradeoff = someTradeoff()
	for k := range m.Tradeoff.Front {
		m.Tradeoff.Front[k].Recipe = map[string]int{"a": 1, "b": m.Problem.Total - 1}
	}
	m.LogZ = &run.Estimate{Value: -1, SE: 0.1}
	return m
}

// limited fails once it has been given too much.
type limited int

func (l *limited) Write(p []byte) (int, error) {
	if *l -= limited(len(p)); *l < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// drawingsOf returns the drawings of a page by the names of their figures.
func drawingsOf(page []byte) map[string][]byte {
	drawings := make(map[string][]byte)
	for {
		_, rest, found := bytes.Cut(page, []byte("<svg "))
		if !found {
			return drawings
		}
		var drawing []byte
		drawing, page, _ = bytes.Cut(rest, []byte("</svg>"))
		_, title, _ := bytes.Cut(drawing, []byte(`aria-labelledby="`))
		if name, _, labelled := bytes.Cut(title, []byte("-title ")); labelled {
			drawings[string(name)] = drawing
		}
	}
}

// A summary that somebody has changed is refused, or shown without harm: nothing
// panics, and nothing grows without bounds. The short form changes the figures of one statistic, not those of all.
func TestChangedSummary(t *testing.T) {
	data, err := small(t).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "checksum")
	tried, refused := 0, 0
	var page bytes.Buffer
	try := func(what string) {
		changed, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		changed = run.Seal(append(changed[:len(changed)-1], ",\"checksum\": \"\"\n}\n"...))
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: %v", what, r)
			}
		}()
		tried++
		m, err := report.Read(t.Context(), document{data: changed})
		if err != nil {
			refused++
			return
		}
		room := limited(1 << 20)
		page.Reset()
		for _, err := range []error{
			Details(&room, m, "runs/it", terminal.Style{}),
			Shortlist(&room, m.Best, m, terminal.Style{}),
			Page(io.MultiWriter(&room, &page), m),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		drawings := drawingsOf(page.Bytes())
		for _, f := range Figures(m) {
			svg, drawn := drawings[f.Name]
			if !drawn {
				svg = []byte(f.SVG())
			}
			if len(svg) > 1<<18 || bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Errorf("%s: the figure %s is %.300s", what, f.Name, svg)
			}
		}
	}
	var walk func(path string, v any, set func(any))
	walk = func(path string, v any, set func(any)) {
		others := []any{nil, -1.0, 3e9}
		if _, number := v.(float64); !number {
			others = []any{nil, []any{}}
		}
		for _, other := range others {
			set(other)
			try(fmt.Sprintf("%s = %v", path, other))
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			names := slices.Sorted(maps.Keys(v))
			if path == "/statistics" && !testmode.Enabled() {
				names = names[:1] // one loop shows them all, whatever their names are
			}
			for _, name := range names {
				walk(path+"/"+name, v[name], func(x any) { v[name] = x })
			}
		case []any:
			if len(v) > 0 { // what holds for the first entry holds for all
				walk(path+"/0", v[0], func(x any) { v[0] = x })
			}
			if len(v) > 1 {
				set(v[:1])
				try(path + " cut short")
				set(v)
			}
		}
	}
	for name, v := range tree {
		walk("/"+name, v, func(x any) { tree[name] = x })
	}
	try("what was not changed")
	t.Logf("%d changes, %d refused", tried, refused)
	if tried < 500 || refused == 0 || refused == tried {
		t.Errorf("%d changes, %d refused", tried, refused)
	}
}
