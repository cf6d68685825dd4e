package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// TestServe: a problem is served from its beginning to its end, which lets go of
// everything, and a second one of the same problem learns where the first is.
func TestServe(t *testing.T) {
	file := smallCocktails(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, ended := make(chan string, 1), make(chan error, 1)
	o := Options{File: file, Address: "127.0.0.1:0", OnReady: func(address, _ string) { begun <- address }, Run: func(ctx context.Context, _ *compile.Problem, _ string, _ func(run.Progress)) (*report.Model, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	go func() { ended <- Serve(ctx, o) }()
	var address string
	select {
	case address = <-begun:
	case err := <-ended:
		t.Fatal(err)
	}
	browser := opened(t, address)
	address, _, _ = strings.Cut(address, "#")
	response, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("%s: %s", address, response.Status)
	}
	if err := Serve(ctx, o); err == nil || !strings.Contains(err.Error(), "another kir serve has this problem open: its page is at "+address) {
		t.Errorf("a second one: %v", err)
	}
	events, err := browser.Get(address + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	lines.Buffer(nil, 1<<20)
	seen := make(map[string]string) // of each kind the last
	for kind := ""; lines.Scan(); {
		name, is := strings.CutPrefix(lines.Text(), "event: ")
		data, of := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case is:
			kind = name
		case of:
			if seen[kind] = data; !json.Valid([]byte(data)) {
				t.Errorf("of %s it receives %s", kind, data)
			}
		case lines.Text() != "" && lines.Text() != ": here": // which a stream says where nothing is new for a while
			t.Errorf("it receives %q", lines.Text())
		}
		if seen["state"] != "" && seen["draws"] != "" && seen["list"] != "" {
			cancel()
		}
	}
	if seen["end"] != "0" || seen["pages"] != "1" {
		t.Errorf("at the end it received %q of pages, and %q", seen["pages"], seen["end"])
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// What stays is where the page was.
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != ".bar.yaml.page" {
		t.Errorf("left are %v, %v", left, err)
	}
	o.Address = "192.0.2.1:80"
	if err := Serve(t.Context(), o); err == nil || err.Error() != `the page cannot be served at "192.0.2.1:80": name an address of this machine, such as 127.0.0.1:8080; with port 0, kir chooses a free one` {
		t.Errorf("at an address that is not this machine's: %v", err)
	}
	o.Address, o.File = "127.0.0.1:0", filepath.Join(filepath.Dir(file), "none.yaml")
	if err := Serve(t.Context(), o); err == nil {
		t.Error("no problem is served")
	}
}

// is looks at what is always the same.
func is(what any) func() (any, bool) { return func() (any, bool) { return what, true } }

// TestHub: a page that joins late receives the last of each kind, in the order of their
// first, and one that is there what is new.
func TestHub(t *testing.T) {
	h := newHub()
	tell := func(kind string, what any) {
		if err := h.publish(kind, is(what)); err != nil {
			t.Fatal(err)
		}
	}
	told := func(version int) string {
		kinds, data, newest, closed := h.messagesSince(version)
		return fmt.Sprintf("%v %s %d %v", kinds, data, newest, closed)
	}
	if got := told(0); got != "[] [] 0 false" {
		t.Error(got)
	}
	tell("state", 1)
	tell("draws", "a")
	tell("state", 2)
	if got := told(0); got != `[state draws] [2 "a"] 3 false` {
		t.Error(got)
	}
	if got := told(2); got != "[state] [2] 3 false" {
		t.Error(got)
	}
	if got := told(3); got != "[] [] 3 false" {
		t.Error(got)
	}
	awake := func(page chan struct{}) bool {
		select {
		case <-page:
			return true
		default:
			return false
		}
	}
	a, b := h.addPage(), h.addPage()
	if got := told(3); got != "[pages] [2] 5 false" || !awake(a) || !awake(b) || awake(a) {
		t.Errorf("%s, and the pages are not woken once", got)
	}
	h.removePage(b)
	tell("state", 3)
	if got := told(5); got != "[state pages] [3 1] 7 false" || !awake(a) || awake(b) {
		t.Errorf("%s, or one that has left is woken", got)
	}
	h.close()
	if got := told(7); got != "[] [] 7 true" || !awake(a) {
		t.Error(got)
	}
	if err := h.publish("state", is(math.NaN())); err == nil {
		t.Error("an event that cannot be encoded is sent")
	}
}

// TestStream: a page receives all there is, that the stream is alive every 15 seconds, and
// that it ends; a page that is gone receives nothing more.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		if err := errors.Join(h.publish("state", is(1)), h.publish("draws", is(2))); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		gone, page := httptest.NewRecorder(), httptest.NewRecorder()
		go h.ServeHTTP(gone, httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil))
		synctest.Wait()
		go h.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/events", nil))
		time.Sleep(20 * time.Second)
		leave()
		synctest.Wait()
		time.Sleep(12 * time.Second)
		if err := h.publish("state", is(3)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.close()
		synctest.Wait()
		const begun, pages, alive = "event: state\ndata: 1\n\nevent: draws\ndata: 2\n\n", "event: pages\ndata: %d\n\n", ": here\n\n"
		if got, want := gone.Body.String(), fmt.Sprintf(begun+pages+pages+alive, 1, 2); got != want {
			t.Errorf("the page that left received %q, want %q", got, want)
		}
		if got, want := page.Body.String(), fmt.Sprintf(begun+pages+alive+pages+alive, 2, 1)+"event: state\ndata: 3\n\nevent: end\ndata: 0\n\n"; got != want {
			t.Errorf("the page received %q, want %q", got, want)
		}
	})
}

// soon returns waits that are short, but for the end's: what heeds it must have ended by then.
func soon() *waitTimes {
	return &waitTimes{pauseBeforeRun: 10 * time.Millisecond, endTimeout: defaultWaitTimes.endTimeout, relearnDelay: 150 * time.Millisecond}
}

// TestSettles: when the run is done its list is shown, going back to a step that was
// settled shows it again, and the page shows a run that fails.
func TestSettles(t *testing.T) {
	data, err := os.ReadFile("../report/assemble/testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	model := new(report.Model)
	if err := json.Unmarshal(data, model); err != nil {
		t.Fatal(err)
	}
	model.Tradeoff = &report.Tradeoff{Objectives: []report.Objective{{Name: "taste"}, {Name: "timing"}}}
	file := smallCocktails(t)
	var made []string
	failed := errors.New("the disk is full")
	s, err := newSession(t.Context(), Options{File: file, waitTimes: soon(), Run: func(_ context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error) {
		made = append(made, filepath.Base(dir))
		progress(run.Progress{DoneShare: 0.5})
		if len(made) > 1 {
			return nil, failed
		}
		return model, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.endAllWork(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.scratchDir.path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left is %s", s.scratchDir.path)
		}
	})
	c := &client{t: t, session: s}
	if state := s.pageState(); state.Phase != "reading" || state.Problem != nil {
		t.Errorf("at first the state is %+v", state)
	}
	s.startWork()
	settled := c.until("the run", func(s *State) bool { return s.Phase == "settled" })
	if !settled.Steps[0].Settled || settled.Step != 1 || settled.Problem.Compositions == "" {
		t.Errorf("it is %+v", settled)
	}
	list, err := s.respondWithShortlist(httptest.NewRequest("GET", "/list", nil))
	if err != nil {
		t.Fatal(err)
	}
	if l := list.(*List); !l.Settled || l.Step != 1 || l.Headline != model.Answer.Headline || l.Note != model.Draws || l.Grade != string(model.Answer.Grade) || !slices.Equal(l.Verdict, model.Answer.Verdict) || len(l.Entries) != len(model.Best) || len(l.Colours) == 0 || l.Tradeoff != model.Tradeoff {
		t.Errorf("the list is %+v", l)
	}
	if s.currentStepWork.finishedShare != 1 {
		t.Errorf("of the run %v is done", s.currentStepWork.finishedShare)
	}
	if err := s.applyChanges("without Gin", (&Request{Action: "ban", Ingredient: "Gin"}).only(t)...); err != nil {
		t.Fatal(err)
	}
	state := c.until("the next", func(s *State) bool { return s.Phase == "faulty" })
	if state.Fault.Message != "the disk is full" || state.Step != 2 || state.Steps[1].Settled || !slices.Equal(made, []string{"step-1", "step-2"}) {
		t.Errorf("a run that fails shows as %+v, made are %v", state.Fault, made)
	}
	if s.workByStep[2].finishedShare != 0.5 {
		t.Errorf("of the run %v is done", s.workByStep[2].finishedShare)
	}
	_, _, version, _ := s.hub.messagesSince(0)
	if err := s.goToStep(1); err != nil {
		t.Fatal(err)
	}
	if state := s.pageState(); state.Phase != "settled" || state.Step != 1 || len(made) != 2 {
		t.Errorf("going back shows %+v", state)
	}
	if kinds, _, _, _ := s.hub.messagesSince(version); !slices.Contains(kinds, "list") || !slices.Contains(kinds, "draws") || !slices.Contains(kinds, "state") {
		t.Errorf("going back tells of %v", kinds)
	}
}

// only returns the changes of a request.
func (r *Request) only(t *testing.T) []change.Change {
	_, all, ok := r.problemChanges(amountConverter{totalUnits: 1000, unitName: "cl", recipeSize: 9})
	if !ok {
		t.Fatalf("%+v is no change", r)
	}
	return all
}

// TestAsked: refusals keep their words.
func TestAsked(t *testing.T) {
	record := golden.Open(t)
	c := serving(t, cocktails(t))
	c.drawn()
	for k, r := range []Request{
		{}, {Action: "fly"}, {Action: "back", Step: 99}, {Action: "back"}, {Action: "name", Step: 1, Text: strings.Repeat("x", 201)}, {Action: "name", Step: 2}, {Action: "weight", Property: "none"}, {Action: "drop", Rule: 50},
		{Action: "dose", Ingredient: "Gin", Min: "lots"}, {Action: "aim", Property: "taste", Direction: "fly", Aim: 1}, {Action: "rule", Text: "[]"}, {Action: "way"}, {Action: "way", Rule: -1}, {Action: "text", Step: 9}, {Action: "save", Step: 9},
		{Action: "save", Step: 1, Text: "bar.yaml"}, {Action: "save", Step: 1, Text: "bar.txt"}, {Action: "save", Step: 1, Text: "../bar.yaml"}, {Action: "text", Step: 1, Text: c.session.history.Steps[0].Text},
		{Action: "text", Step: 1, Text: strings.Repeat("#", 17<<20>>1)}, {Action: "prefer"}, {Action: "name", Step: 1, Text: strings.Repeat("x", 200)}, {Action: "save", Step: 1, Text: "bar.yaml", Overwrite: true}, {Action: "save", Step: 1, Text: "a.yml"},
	} {
		status, text := c.do(r)
		record.CheckText(t, fmt.Sprintf("%d %s %.60s", k, r.Action, r.Text), fmt.Sprintf("%d %.300s", status, strings.ReplaceAll(text, c.session.problemDir, "DIR")))
	}
	for _, path := range []string{"/text?step=x", "/text?step=0", "/text?step=1&against=7", "/list?step=9", "/list?step=-1", "/amounts?of=none", "/amounts?group=none", "/leaves?change={", "/leaves?change={\"do\":\"fly\"}", "/leaves?change={\"fly\":1}"} {
		status, text := c.get(path)
		if strings.HasPrefix(path, "/text?step=1") {
			text = "the text"
		}
		record.CheckText(t, path, fmt.Sprint(status, " ", text))
	}
	response, err := c.send("POST", "/do", "text/plain", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("what is no JSON: %s", response.Status)
	}
}

// TestShapes: distributions of amounts, by hand, and numbers of compositions from none
// to very many.
func TestShapes(t *testing.T) {
	draws := func(amounts ...int) [][]keptDraw {
		kept := [][]keptDraw{nil, nil}
		for k, a := range amounts {
			x := keptDraw{parts: []mcmc.Part{{Ingredient: 1, Amount: 1}}}
			if a > 0 {
				x.parts = append(x.parts, mcmc.Part{Ingredient: 0, Amount: a})
			}
			kept[k%2] = append(kept[k%2], x)
		}
		return kept
	}
	first := func(i int) bool { return i == 0 }
	for _, c := range []struct {
		amounts   []int
		used      report.Number
		low, high float64
		bins      string
	}{
		{[]int{0, 0}, 0, 0, 0, "[]"}, {[]int{0, 7}, 0.5, 0.06, 0.07, "[1]"}, {[]int{1, 2, 4, 4}, 1, 0, 0.04, "[1 1 0 2]"},
		{[]int{60, 99, 100, 0}, 0.75, 0.59, 1.01, "[1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1]"}, {[]int{30, 33}, 1, 0.29, 0.33, "[1 0 0 1]"}, {[]int{24, 99}, 1, 0, 0.99, "[0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1]"},
	} {
		d := newDistribution("gin", 100, draws(c.amounts...), first)
		if d.UseShare != c.used || math.Abs(d.Low-c.low) > 1e-12 || math.Abs(d.High-c.high) > 1e-12 || fmt.Sprint(d.Bins) != c.bins || d.Name != "gin" || d.Total != 100 {
			t.Errorf("%v are %+v", c.amounts, d)
		}
	}
	for text, want := range map[string]string{
		"total: 10\ningredients: {count: 4}\nsparsity: {uniform: [1, 1]}\n": "4", "total: 10\ningredients: {count: 4}\nsparsity: {table: {1: 1, 3: 1}}\n": "148",
		"total: 1000\ningredients: {count: 300}\nsparsity: {uniform: [5, 5]}\n": "8.1 · 10²⁰", "total: 100\ningredients: {count: 9}\nsparsity: {uniform: [6, 6]}\n": "6,007,944,096", "total: 1000\ningredients: {count: 9}\nsparsity: {uniform: [6, 6]}\n": "6.9 · 10¹⁴",
	} {
		file := filepath.Join(t.TempDir(), "problem.yaml")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := compile.Load(t.Context(), file, compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := recipeCountText(p); got != want {
			t.Errorf("%s leaves %s, want %s", text, got, want)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	nan := math.NaN()
	if worseStatistic(1, report.Number(nan), math.Max) != 1 || worseStatistic(report.Number(nan), 2, math.Max) != 2 || worseStatistic(1, 2, math.Max) != 2 || worseStatistic(1, 2, math.Min) != 1 || !math.IsNaN(float64(worseStatistic(report.Number(nan), report.Number(nan), math.Max))) {
		t.Error("what is not known is the worst")
	}
}

// TestMany: of more than can be looked at what is shown is bounded, and the rest counted.
func TestMany(t *testing.T) {
	file := filepath.Join(t.TempDir(), "problem.yaml")
	if err := os.WriteFile(file, []byte("total: 40\ningredients: {count: 5010}\nsparsity: {uniform: [3, 3]}\nproperties: {y: {expression: \"1 + share('ingredient 1')\"}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Load(t.Context(), file, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	g := newIngredientGroups(p)
	if a := newProblemView(p, g, new(palette).groupColours(g)); len(a.Names) != 5000 || a.UnnamedCount != 10 || len(a.GroupOfIngredient) != 0 {
		t.Errorf("%d are named, %d are not", len(a.Names), a.UnnamedCount)
	}
	kept := make([][]keptDraw, 4)
	for k := range 400 {
		// Ingredient i is in more draws the smaller it is.
		x := keptDraw{logDensity: float64(k % 7)}
		for _, i := range []int{k % 2, 2 + k%67, 70 + k%9} {
			x.parts = append(x.parts, mcmc.Part{Ingredient: i, Amount: 10 + i%3})
		}
		kept[k%4] = append(kept[k%4], x)
	}
	d := newDraws(p, g, kept, 1600)
	if len(d.Ingredients) != 60 || d.UnlistedCount != 18 || d.DrawCount != 1600 || d.Ingredients[0].UseShare != 0.5 || d.Ingredients[0].Mean != 0.25 || d.Ingredients[0].Name != "ingredient 1" {
		t.Errorf("%d are shown, %d are not, the first is %+v", len(d.Ingredients), d.UnlistedCount, d.Ingredients[0])
	}
	for _, c := range []struct {
		density []float64 // by draw, of each of four chains
		apart   float64   // added to those of the first
		why     string
	}{
		{[]float64{1, 2, 3, 4, 5, 6, 7}, 0, "The first random recipes (draws) are on their way."}, {[]float64{1, 1, 1, 1, 1, 1, 1, 1}, 0, "Not reliable yet: too few random recipes (draws) to tell."},
		{[]float64{1, 5, 2, 6, 3, 7, 4, 8, 1, 5, 2, 6, 3, 7, 4, 8}, 9, "Not reliable yet: the independent sampling runs (chains) do not agree (R-hat "}, {[]float64{1, 5, 2, 6, 3, 7, 4, 8, 1, 5, 2, 6, 3, 7, 4, 8}, 0, "Not reliable yet: the random recipes (draws) are worth only "},
	} {
		var density, used [][]float64
		for k := range 4 {
			var of []float64
			for _, v := range c.density {
				if k == 0 {
					v += c.apart
				}
				of = append(of, v)
			}
			density, used = append(density, of), append(used, slices.Repeat([]float64{3}, len(of)))
		}
		d := &Draws{}
		if d.assessConvergence(density, used); !strings.HasPrefix(d.Why, c.why) || d.Reliable {
			t.Errorf("%v reads %q", c.density, d.Why)
		}
	}
}

// What is measured to open a session is kept, so that its first step need not wait for it
// again, nor the next session.
func TestMeasuredOnce(t *testing.T) {
	dir := t.TempDir()
	table := "ingredient,x,y\n"
	for k := range 40 {
		table += fmt.Sprintf("i%d,%d,%d\n", k, k*37%101, k*53%97)
	}
	file := filepath.Join(dir, "problem.yaml")
	problem := "ingredients: {file: i.csv}\ntotal: 1000\nsparsity: {uniform: [3, 4]}\n" +
		"constraints: [{limit: {attribute: x, min: 61, max: 68}}, {limit: {attribute: y, max: 27}}]\n"
	for path, text := range map[string]string{file: problem, filepath.Join(dir, "i.csv"): table} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := newSession(t.Context(), Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadDir(filepath.Join(dir, ".kir-cache")); err != nil || len(kept) == 0 {
		t.Errorf("%v are kept: %v", kept, err)
	}
	if err := s.endAllWork(); err != nil {
		t.Error(err)
	}
}

// TestEndsWhileDrawing: a server that is ended while a run does not heed it ends as it does
// otherwise, and the next one of the problem is at the same address.
func TestEndsWhileDrawing(t *testing.T) {
	file := smallCocktails(t)
	started, release := make(chan bool, 1), make(chan bool)
	defer close(release)
	o := Options{File: file, Address: "127.0.0.1:0", waitTimes: soon(), Run: func(context.Context, *compile.Problem, string, func(run.Progress)) (*report.Model, error) {
		started <- true
		<-release
		return nil, errors.New("released")
	}}
	o.waitTimes.endTimeout = 100 * time.Millisecond // the run does not heed it
	var addresses []string
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		begun, ended := make(chan string, 1), make(chan error, 1)
		o.OnReady = func(address, _ string) { begun <- address }
		go func() { ended <- Serve(ctx, o) }()
		select {
		case address := <-begun:
			at, _, _ := strings.Cut(address, "#")
			addresses = append(addresses, at)
		case err := <-ended:
			t.Fatal(err)
		}
		<-started
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if addresses[0] != addresses[1] {
		t.Errorf("the addresses are %q", addresses)
	}
}
