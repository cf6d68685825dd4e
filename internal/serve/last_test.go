package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// lastTold returns what pages were told last of a kind.
func (c *client) lastTold(kind string) string {
	c.session.hub.mu.Lock()
	defer c.session.hub.mu.Unlock()
	return string(c.session.hub.latestMessages[kind].data)
}

// TestHubInTurn: what is told last was seen last, however long who told first takes
// between looking and telling.
func TestHubInTurn(t *testing.T) {
	h := newHub()
	looked, on := make(chan struct{}), make(chan struct{})
	var is atomic.Int64
	slow := make(chan error, 1)
	go func() {
		slow <- h.publish("state", func() (any, bool) {
			seen := is.Load()
			close(looked)
			<-on
			return seen, true
		})
	}()
	<-looked
	is.Store(1)
	quick := make(chan error, 1)
	go func() { quick <- h.publish("state", func() (any, bool) { return is.Load(), true }) }()
	time.Sleep(10 * time.Millisecond) // for the quick one to overtake the slow one, if it can
	close(on)
	if err := errors.Join(<-slow, <-quick); err != nil {
		t.Fatal(err)
	}
	if _, data, _, _ := h.messagesSince(0); string(data[0]) != "1" {
		t.Errorf("it is told last that the state is %s", data[0])
	}
	if err := h.publish("list", func() (any, bool) { return nil, false }); err != nil {
		t.Fatal(err)
	}
	if kinds, _, _, _ := h.messagesSince(0); !slices.Equal(kinds, []string{"state"}) {
		t.Errorf("it is told of %v", kinds)
	}
}

// TestLastState: when all that is done for a step is done, the state that was told
// last is the one that holds, however quickly the step fails. With states that were
// made before their turn to be told, 11 to 31 of 300 such steps stayed at "reading".
func TestLastState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "problem.yaml")
	const text = "ingredients: {count: 4}\ntotal: 10\nsparsity: {uniform: [1, 3]}\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c := serving(t, file)
	for k := range 300 {
		c.must(Request{Action: "text", Step: 1, Text: fmt.Sprintf("%sseed: %d\n", text, k)})
		c.session.mu.Lock()
		done := c.session.currentStepWork.doneSignal
		c.session.mu.Unlock()
		<-done
		var told State
		if err := json.Unmarshal([]byte(c.lastTold("state")), &told); err != nil {
			t.Fatal(err)
		}
		if told.Step != k+2 || told.Phase != "faulty" {
			t.Errorf("of step %d it is told last that step %d is %s", k+2, told.Step, told.Phase)
		}
	}
}

// TestRefusedWhole: what could not be written down is not in the history, and so not in
// the next step, either; nor does a pair count that was refused.
func TestRefusedWhole(t *testing.T) {
	c := serving(t, smallCocktails(t))
	c.drawn()
	c.must(Request{Action: "ban", Ingredient: "Vodka"})
	c.drawn()
	kept := c.session.history.path
	was, err := json.Marshal(c.session.history)
	if err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(filepath.Dir(kept), "none")
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.session.history.path = filepath.Join(none, "steps.json") // where nothing can be written
	better, worse := map[string]int{"Gin": 1}, map[string]int{"Campari": 1}
	refused := []Request{
		{Action: "ban", Ingredient: "Gin"}, {Action: "text", Step: 1, Text: "total: 10\n"}, {Action: "back", Step: 1}, {Action: "name", Step: 1, Text: "first"},
		{Action: "prefer", Better: better, Worse: worse},
	}
	for _, r := range refused {
		if status, text := c.do(r); status != http.StatusInternalServerError || !strings.Contains(text, "nothing was changed") {
			t.Errorf("%+v: %d %s", r, status, text)
		}
		if is, err := json.Marshal(c.session.history); err != nil || string(is) != string(was) {
			t.Errorf("%+v leaves the history %s, %v", r, is, err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.session.problemDir, pairsFileName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pair is kept: %v", err)
	}
	c.session.history.path = kept
	c.must(Request{Action: "prefer", Better: better, Worse: worse})
	tasted, err := os.ReadFile(filepath.Join(c.session.problemDir, pairsFileName))
	if err != nil {
		t.Fatal(err)
	}
	before := c.session.history.Steps[2]
	if before.Parent != 2 || before.Change != "compared 1 pair" || strings.Contains(before.Text, "exclude: Gin") {
		t.Errorf("the next step is %+v", before)
	}
	c.session.history.path = filepath.Join(none, "steps.json")
	if status, text := c.do(Request{Action: "prefer", Better: better, Worse: worse}); status != http.StatusInternalServerError {
		t.Errorf("a second pair: %d %s", status, text)
	}
	if is, err := os.ReadFile(filepath.Join(c.session.problemDir, pairsFileName)); err != nil || string(is) != string(tasted) || c.session.history.Steps[2] != before {
		t.Errorf("a pair that was refused leaves %s, %v, and the step %+v", is, err, c.session.history.Steps[2])
	}
	c.session.history.path = kept
}
