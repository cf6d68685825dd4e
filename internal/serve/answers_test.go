package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// asking returns a session of the problem of package assemble, with draws of its seed on
// which nobody goes on.
func asking(t *testing.T) *Session {
	t.Helper()
	s := askingOf(t, os.DirFS("../report/assemble/testdata"))
	data, err := os.ReadFile("../report/assemble/testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	s.currentStepWork.runResults = new(report.Model)
	if err := json.Unmarshal(data, s.currentStepWork.runResults); err != nil {
		t.Fatal(err)
	}
	return s
}

// askingOf returns a session of the files of a problem, without a run that is done.
func askingOf(t *testing.T, files fs.FS) *Session {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	s, err := newSession(t.Context(), Options{File: filepath.Join(dir, "problem.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(t.Context(), s.problemPath, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	c := newDrawingChains(p.Target, new(processorGate))
	kernel, err := mcmc.NewKernel("balanced", p.Target)
	if err != nil {
		t.Fatal(err)
	}
	for k, of := range c.traces {
		r := mcmc.NewRand(p.Sampler.Seed, "page", uint64(k))
		x, err := c.startState(r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := &liveChain{kernel: kernel, rand: r, trace: of, state: x}
		for range 5 {
			if err := l.takeTurn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.currentStepWork = &stepWork{session: s, step: *s.history.currentStep(), problem: p, groups: newIngredientGroups(p), chains: c, doneSignal: make(chan struct{})}
	s.workByStep[1] = s.currentStepWork
	return s
}

// stateAnywhere is the state that the page gets, but for the directory that the problem is in.
func stateAnywhere(s *Session) *State {
	state := s.pageState()
	state.StorageKey = ""
	return state
}

// The page gets the same of given draws as before.
func TestAnswersAsBefore(t *testing.T) {
	s := asking(t)
	s.addNote("a note")
	s.history.addStep(1, "with Gin", strings.Replace(s.history.currentStep().Text, "constraints:\n", "constraints:\n  - require: Gin\n", 1))
	s.history.Current = 1
	answers := map[string]any{"state": stateAnywhere(s)}
	p, kept, err := s.currentWork().loaded()
	if err != nil {
		t.Fatal(err)
	}
	draws := newDraws(p, s.currentStepWork.groups, kept, 320)
	answers["draws"] = draws
	few := make([][]keptDraw, len(kept))
	for k := range kept {
		few[k] = kept[k][:5]
	}
	answers["few draws"] = newDraws(p, s.currentStepWork.groups, few, 20)
	answers["a draw"] = newDraws(p, s.currentStepWork.groups, [][]keptDraw{kept[0][:1]}, 1)
	answers["no draws"] = newDraws(p, s.currentStepWork.groups, make([][]keptDraw, 4), 0)
	apart := [][]keptDraw{kept[0][:40], kept[0][40:80]}
	for k := range apart[1] { // one chain is elsewhere
		apart[1][k].logDensity += 9
	}
	alike := make([][]keptDraw, 4)
	for k, r := 0, mcmc.NewRand(1, "alike", 0); k < 1200; k++ {
		alike[k%4] = append(alike[k%4], keptDraw{parts: kept[0][k%80].parts[:1+r.Intn(2)], logDensity: float64(r.Intn(1 << 20))})
	}
	answers["chains alike"] = newDraws(p, s.currentStepWork.groups, alike, 1200).Why
	answers["few are worth much"] = newDraws(p, s.currentStepWork.groups, [][]keptDraw{alike[0][:60], alike[1][:60]}, 120).Why
	answers["chains apart"] = newDraws(p, s.currentStepWork.groups, apart, 80).Why
	for path, answer := range map[string]func(*http.Request) (any, error){
		"amounts?of=Rum": s.respondWithHistogram, "amounts?of=Bitters": s.respondWithHistogram, "amounts?group=spirit": s.respondWithHistogram, "amounts?group=ice": s.respondWithHistogram, "amounts?of=Ice": s.respondWithHistogram,
		"map": s.respondWithMap, "pair": s.respondWithQuestion, "text?step=2": s.respondWithStepText, "text?step=9": s.respondWithStepText, "list": s.respondWithShortlist,
		"leaves?change=" + url.QueryEscape(`{"do":"ban","ingredient":"Rum"}`):                  s.respondWithRulePreview,
		"leaves?change=" + url.QueryEscape(`{"do":"dose","ingredient":"Rum","min":"10%"}`):     s.respondWithRulePreview,
		"leaves?change=" + url.QueryEscape(`{"do":"rule","text":"require: [Cola, Vermouth]"}`): s.respondWithRulePreview,
		"leaves?change=" + url.QueryEscape(`{"do":"back"}`):                                    s.respondWithRulePreview,
	} {
		got, err := answer(httptest.NewRequest(http.MethodGet, "/"+path, nil))
		if err != nil {
			got = err.Error()
		}
		if m, is := got.(*PCAMap); is { // whose last digits depend on how sums are made
			for k := range m.Points {
				m.Points[k].X, m.Points[k].Y = math.Round(1e4*m.Points[k].X)/1e4, math.Round(1e4*m.Points[k].Y)/1e4
			}
			m.Points, m.Explained = m.Points[300:], report.Number(math.Round(1e6*float64(m.Explained))/1e6)
		}
		answers[path] = got
	}
	for path, serve := range map[string]http.HandlerFunc{
		"/csv":                               s.serveTable,
		"/weigh?entry=1&batch=700ml&round=5": s.serveWeighing, "/weigh?entry=4&batch=700ml&round=5&in=cl&as=csv": s.serveWeighing, "/weigh?entry=2&batch=700ml&round=1&as=html": s.serveWeighing,
		"/weigh?entry=5&batch=700ml&round=1": s.serveWeighing, "/weigh?entry=0&batch=700ml&round=1": s.serveWeighing, "/weigh?entry=1&batch=lots": s.serveWeighing,
	} {
		w := httptest.NewRecorder()
		serve(w, httptest.NewRequest(http.MethodGet, path, nil))
		answers[path] = map[string]any{"status": w.Code, "kind": w.Header().Get("Content-Type"), "lines": strings.Split(w.Body.String(), "\n")}
	}
	words := map[string]any{}
	for _, r := range []Request{
		{Action: "pin", Ingredient: "Gin"}, {Action: "pin", Ingredient: "Gin", Amount: "20%"}, {Action: "ban", Ingredient: "Gin"}, {Action: "replace", Ingredient: "Gin", Replacement: "Rum"},
		{Action: "dose", Ingredient: "Gin", Min: "5%"}, {Action: "dose", Ingredient: "Gin", Max: "5%"}, {Action: "dose", Ingredient: "Gin", Min: "5%", Max: "9%"}, {Action: "group", Attribute: "kind", Value: "spirit", Max: "40%"},
		{Action: "near", Recipe: map[string]int{"Gin": 60, "Rum": 40}, Changes: 1}, {Action: "weight", Property: "taste", Weight: 2.5}, {Action: "aim", Property: "liking", Direction: "at_least", Aim: 5.0},
		{Action: "aim", Property: "liking", Direction: "between", Aim: []any{5.0, 6.5}}, {Action: "rule", Text: "never:  [Gin,\n Rum]"}, {Action: "drop", Rule: 2}, {Action: "seed", Rule: 7}, {Action: "trade", Trade: []string{"taste", "liking"}}, {Action: "trade"}, {Action: "fly"},
	} {
		said, all, ok := r.problemChanges(amountConverter{totalUnits: 1000, unitName: "cl", recipeSize: 9})
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		words[string(data)] = []any{said, all, ok}
	}
	answers["words"] = words
	got, err := json.MarshalIndent(answers, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/answers.json", got)
}

// The page gets the same as before where nothing is wished for, where a taste was
// learnt from pairs, where there is one composition only, and before there are draws.
func TestOtherAnswersAsBefore(t *testing.T) {
	const law = "sparsity: {uniform: [1, 2]}\n"
	const shelf = "name,kind\nGin,spirit\nRum,spirit\nLime,\n"
	pairs := "pair,choice,ingredient,amount\n"
	for k := range 8 {
		pairs += fmt.Sprintf("%d,better,Gin,%d\n%[1]d,better,Lime,2\n%[1]d,worse,Rum,3\n", k+1, k+3)
	}
	answers := map[string]any{}
	for name, text := range map[string]string{
		"plain":   "total: 12\ningredients: shelf.csv\n" + law,
		"tasted":  "total: 12\ningredients: shelf.csv\n" + law + "properties: {liking: {preference: {pairs: pairs.csv, groups: kind, first: 6}}}\n",
		"alone":   "total: 1\ningredients: [Gin]\nsparsity: {uniform: [1, 1]}\n",
		"drawn":   "total: 12\ningredients: shelf.csv\n" + law,
		"many":    "total: 100000\ningredients: shelf.csv\nsparsity: {uniform: [3, 3]}\n",
		"forever": "total: 2000000000\ningredients: shelf.csv\nsparsity: {uniform: [3, 3]}\n",
	} {
		s := askingOf(t, fstest.MapFS{"problem.yaml": {Data: []byte("name: A bar\n" + text), Mode: 0o644}, "shelf.csv": {Data: []byte(shelf), Mode: 0o644}, "pairs.csv": {Data: []byte(pairs), Mode: 0o644}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if name == "drawn" { // or it would be waited for
			cancel()
			for _, of := range s.currentStepWork.chains.traces {
				of.draws = of.draws[:0]
			}
		}
		answers[name+" state"] = stateAnywhere(s)
		s.history.addStep(1, "more", text+"# more\n")
		for path, answer := range map[string]func(*http.Request) (any, error){
			"map": s.respondWithMap, "pair": s.respondWithQuestion, "amounts?group=spirit": s.respondWithHistogram, "text?step=1&against=2": s.respondWithStepText, "list?step=1": s.respondWithShortlist, "list?step=2": s.respondWithShortlist,
		} {
			got, err := answer(httptest.NewRequestWithContext(ctx, http.MethodGet, "/"+path, nil))
			if err != nil {
				got = err.Error()
			}
			if m, is := got.(*PCAMap); is { // see above
				m.Points, m.Explained = m.Points[:min(len(m.Points), 1)], report.Number(math.Round(1e6*float64(m.Explained))/1e6)
				for k := range m.Points {
					m.Points[k].X, m.Points[k].Y = 0, 0
				}
			}
			answers[name+" "+path] = got
		}
		if err := s.currentStepWork.quickSearch(t.Context(), s.currentStepWork.problem, 50, 0); err != nil {
			t.Fatal(err)
		}
		answers[name+" looked at"] = s.currentStepWork.shortlistWithColours()
	}
	got, err := json.MarshalIndent(answers, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/others.json", got)
}

// TestHistory: the steps are read back as they were saved, and a file that is none is
// left alone, with a way out.
func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "problem.yaml")
	h, err := openHistory(file, []byte("total: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	h.addStep(1, "with Gin", "total: 2\n")
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	same, err := openHistory(file, []byte("total: 1\n"))
	if err != nil || same.Current != h.Current || !reflect.DeepEqual(same.Steps, h.Steps) {
		t.Errorf("%+v is read back as %+v, %v", h.Steps, same, err)
	}
	// A step that has changed is written anew, beside those that have not.
	h.Steps[1].Name = "mine"
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if same, err = openHistory(file, []byte("total: 1\n")); err != nil || !reflect.DeepEqual(same.Steps, h.Steps) {
		t.Errorf("%+v is read back as %+v, %v", h.Steps, same, err)
	}
	if changed, err := openHistory(file, []byte("total: 3\n")); err != nil || len(changed.Steps) != 3 || changed.currentStep().Change != "as in problem.yaml, changed since" || changed.currentStep().Parent != 0 {
		t.Errorf("of another file it is %+v, %v", changed, err)
	}
	for _, id := range []int{-1, 0, 3} {
		if _, err := h.findStep(id); err == nil {
			t.Errorf("there is a step %d", id)
		}
	}
	for _, bad := range []string{"", "[]", `{"current": 0}`, `{"current": 2, "steps": [{"id": 1}]}`, `{"current": 1, "steps": [{"id": 2}]}`, `{"current": 1, "steps": [{"id": 1, "parent": 1}]}`, `{"current": 1, "steps": [{"id": 1, "parent": -1}]}`} {
		if err := os.WriteFile(h.path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		broken := (*inputerr.Error)(nil)
		if _, err := openHistory(file, []byte("total: 1\n")); !errors.As(err, &broken) || broken.Hint != "move it away, and a new one is begun" {
			t.Errorf("%s: %v", bad, err)
		}
		if left, err := os.ReadFile(h.path); err != nil || string(left) != bad {
			t.Errorf("of %s is left %s, %v", bad, left, err)
		}
	}
}

// TestRulesAsListed: the page lists the constraints as the file has them, so that the one
// that is dropped is the one that was pointed at.
func TestRulesAsListed(t *testing.T) {
	s := askingOf(t, fstest.MapFS{
		"parts.csv":  {Data: []byte("ingredient,constituent,share\nGin,oil,0.5\n")},
		"limits.csv": {Data: []byte("attribute,max\noil,0.4\n")},
		"problem.yaml": {Data: []byte("name: x\ntotal: 10\ningredients: [Gin, Rum, Lime]\nsparsity: {uniform: [2, 3]}\nconstraints:\n  - constituents: {file: parts.csv}\n" +
			"  - block: {of: [Gin, Rum], total: 6, rules: [{amount: {of: Gin, max: 4}}]}\n  - limits: {file: limits.csv}\n  - require: Gin\n  - constituents: {file: parts2.csv}\n")},
		"parts2.csv": {Data: []byte("ingredient,constituent,share\nRum,oil,0.5\n")},
	})
	want := []string{"constituents", "Gin, Rum (own sub-recipe): together exactly 60 %; Gin: at most 40 % of the total, within Gin, Rum", "oil: at most 0.4 (limits.csv line 2)", "always use Gin"}
	if got := s.pageState().Problem.Constraints; !slices.Equal(got, want) {
		t.Errorf("the rules are %q, not %q", got, want)
	}
	request := &Request{Action: "drop", Rule: 3}
	_, all, _ := request.problemChanges(s.currentAmountConverter())
	text, err := change.Apply("problem.yaml", []byte(s.history.currentStep().Text), all...)
	if err != nil || strings.Contains(string(text), "require") || strings.Count(string(text), "  - ") != 4 {
		t.Errorf("without it (%v):\n%s", err, text)
	}
}

// TestDrawsOfAStepThatIsReplaced: who waits for draws while another step becomes current gets the
// draws of that step, and no error because the work on the first one has ended.
func TestDrawsOfAStepThatIsReplaced(t *testing.T) {
	s := asking(t)
	full := s.currentStepWork
	first := &stepWork{session: s, doneSignal: make(chan struct{})}
	second := &stepWork{session: s, doneSignal: make(chan struct{})}
	s.currentStepWork = first
	go func() {
		time.Sleep(30 * time.Millisecond)
		s.mu.Lock()
		s.currentStepWork = second
		s.mu.Unlock()
		close(first.doneSignal)
		time.Sleep(30 * time.Millisecond)
		second.mu.Lock()
		defer second.mu.Unlock()
		second.problem, second.chains = full.problem, full.chains
	}()
	w, p, kept, err := s.waitForDraws(t.Context())
	if err != nil || w != second || p != full.problem || len(kept) != liveChainCount || len(kept[0]) < 8 {
		t.Errorf("the draws are those of %p (of %p), of problem %p, %d chains, %v", w, second, p, len(kept), err)
	}
	failed := &stepWork{session: s, doneSignal: make(chan struct{})}
	close(failed.doneSignal)
	s.currentStepWork = failed
	if _, _, _, err := s.waitForDraws(t.Context()); err == nil {
		t.Error("a step whose work has ended without draws has some")
	}
}
