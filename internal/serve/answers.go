package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/mcmc"
)

// currentWork returns the work on the current step, its problem and its draws so far.
func (s *Session) currentWork() (w *work, p *compile.Problem, kept [][]keptDraw, err error) {
	s.mu.Lock()
	w = s.work
	s.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == nil || w.chains == nil {
		return nil, nil, nil, &inputerr.Error{Message: "there are no draws yet"}
	}
	kept, _ = w.chains.draws()
	return w, w.problem, kept, nil
}

// waitForDraws is [Session.currentWork], but waits until the step has some draws. A recent
// change may have restarted the step.
func (s *Session) waitForDraws(ctx context.Context) (*work, *compile.Problem, [][]keptDraw, error) {
	for begun := time.Now(); ; {
		s.mu.Lock()
		done := s.work.done
		s.mu.Unlock()
		w, p, kept, err := s.currentWork()
		if err == nil && len(kept[0]) >= 8 || time.Since(begun) > 10*time.Second {
			return w, p, kept, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, nil, ctx.Err()
		case <-done:
			return s.currentWork()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// answerAmounts responds with the distribution of the amounts of an ingredient or a group over
// the draws.
func (s *Session) answerAmounts(r *http.Request) (any, error) {
	w, p, kept, err := s.waitForDraws(r.Context())
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if name := q.Get("group"); name != "" {
		k := slices.Index(w.groups.values, name)
		if k < 0 {
			return nil, &inputerr.Error{Message: "there is no group " + inputerr.Quote(name)}
		}
		return newDistribution(name, p.Total, kept, func(i int) bool { return w.groups.byIngredient[i] == k }), nil
	}
	i := slices.Index(p.Ingredients, q.Get("of"))
	if i < 0 {
		return nil, &inputerr.Error{Message: "there is no ingredient " + inputerr.Quote(q.Get("of"))}
	}
	return newDistribution(q.Get("of"), p.Total, kept, func(j int) bool { return j == i }), nil
}

// A StepText is the text of a step's problem.
type StepText struct {
	Text       string `json:"text"`
	Difference string `json:"difference"` // difference from the text of step Against
	Command    string `json:"command"`    // the command that has the same effect
	Against    int    `json:"against"`
}

// answerText responds with the text of a step's problem, and its difference from another
// step's text, by default the first step's.
func (s *Session) answerText(r *http.Request) (any, error) {
	step, err := s.stepOf(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	against := s.history.Steps[0]
	for k := range s.history.Steps {
		if fmt.Sprint(k+1) == r.URL.Query().Get("against") {
			against = s.history.Steps[k]
		}
	}
	name := filepath.Base(s.file)
	return &StepText{
		Text: step.Text, Against: against.ID, Command: "kir sample " + name,
		Difference: change.Diff(fmt.Sprintf("step %d", against.ID), []byte(against.Text), fmt.Sprintf("step %d", step.ID), []byte(step.Text)),
	}, nil
}

// answerShortlist responds with the shortlist that a step had when the page was last at it.
func (s *Session) answerShortlist(r *http.Request) (any, error) {
	step, err := s.stepOf(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	w := s.workByStep[step.ID]
	s.mu.Unlock()
	if w == nil {
		return nil, &inputerr.Error{Message: fmt.Sprintf("step %d has not been looked at since the page is served", step.ID), Hint: "go back to it first"}
	}
	l := w.shownList()
	if l == nil {
		return nil, &inputerr.Error{Message: fmt.Sprintf("step %d has no shortlist yet", step.ID)}
	}
	return l, nil
}

// recipeText writes a recipe in one line, the largest amount first, and its conditions behind it.
func recipeText(p *compile.Problem, x keptDraw) string {
	parts := slices.Clone(x.parts)
	slices.SortFunc(parts, func(a, b mcmc.Part) int { return cmp.Compare(b.Amount, a.Amount) })
	var units []int
	for _, part := range parts {
		units = append(units, part.Amount)
	}
	words := number.Shares(units, p.Total)
	for k, part := range parts {
		words[k] += " " + p.Ingredients[part.Ingredient]
	}
	if set := settingText(p, x.conditions); set != "" {
		words = append(words, set)
	}
	return strings.Join(words, ", ")
}

// stepOf returns a copy of the step that a request names, by default the current step.
func (s *Session) stepOf(r *http.Request) (*Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.history.Current
	if text := r.URL.Query().Get("step"); text != "" {
		var err error
		if id, err = strconv.Atoi(text); err != nil {
			return nil, &inputerr.Error{Message: inputerr.Quote(text) + " is no step"}
		}
	}
	step, err := s.history.step(id)
	if err != nil {
		return nil, err
	}
	copied := *step
	return &copied, nil
}
