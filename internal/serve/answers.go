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

// loaded returns the problem of the step and its kept draws. Element [c][k] of kept is draw k of
// chain c. It returns an error if there are no draws yet.
func (w *stepWork) loaded() (p *compile.Problem, kept [][]keptDraw, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == nil || w.chains == nil {
		return nil, nil, &inputerr.Error{Message: "there are no draws yet"}
	}
	kept, _ = w.chains.draws()
	return w.problem, kept, nil
}

// currentWork returns the work on the current step.
func (s *Session) currentWork() *stepWork {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentStepWork
}

// waitForDraws returns the work on the current step, its problem and its kept draws; see
// [stepWork.loaded]. It waits up to ten seconds until there are a few draws. If another step becomes
// current meanwhile, it waits for the draws of that step.
func (s *Session) waitForDraws(ctx context.Context) (*stepWork, *compile.Problem, [][]keptDraw, error) {
	for begun := time.Now(); ; {
		w := s.currentWork()
		ended := false
		select {
		case <-w.doneSignal:
			ended = true
		default:
		}
		p, kept, err := w.loaded()
		if err == nil && len(kept[0]) >= 8 || ended && w == s.currentWork() || time.Since(begun) > 10*time.Second {
			return w, p, kept, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// respondWithHistogram responds with a histogram of the amounts that an ingredient, or a group of
// ingredients, has in the draws.
func (s *Session) respondWithHistogram(r *http.Request) (any, error) {
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
		return newDistribution(name, p.Total, kept, func(i int) bool { return w.groups.groupOfIngredient[i] == k }), nil
	}
	i := slices.Index(p.Ingredients, q.Get("of"))
	if i < 0 {
		return nil, &inputerr.Error{Message: "there is no ingredient " + inputerr.Quote(q.Get("of"))}
	}
	return newDistribution(q.Get("of"), p.Total, kept, func(j int) bool { return j == i }), nil
}

// A StepText is the text of a step's problem file, together with the difference from the text of
// another step.
type StepText struct {
	Text       string `json:"text"`       // text of the problem file
	Difference string `json:"difference"` // difference from the text of the step Against, in the format of diff
	Command    string `json:"command"`    // command line that draws recipes from the same problem without the page
	Against    int    `json:"against"`    // id of the step that the text is compared with
}

// respondWithStepText responds with the text of a step's problem file and the difference from the text of
// another step. The request may name the other step; otherwise it is the first step.
func (s *Session) respondWithStepText(r *http.Request) (any, error) {
	step, err := s.requestedStep(r)
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
	name := filepath.Base(s.problemPath)
	return &StepText{
		Text: step.Text, Against: against.ID, Command: "kir sample " + name,
		Difference: change.Diff(fmt.Sprintf("step %d", against.ID), []byte(against.Text), fmt.Sprintf("step %d", step.ID), []byte(step.Text)),
	}, nil
}

// respondWithShortlist responds with the latest shortlist of a step that was worked on before.
func (s *Session) respondWithShortlist(r *http.Request) (any, error) {
	w, err := s.requestedWork(r)
	if err != nil {
		return nil, err
	}
	l := w.shortlistWithColours()
	if l == nil {
		return nil, &inputerr.Error{Message: fmt.Sprintf("step %d has no shortlist yet", w.step.ID)}
	}
	return l, nil
}

// requestedWork returns the work on the step that a request names; see [Session.requestedStep]. It
// returns an error if the step was not worked on since the page is served, or too long ago.
func (s *Session) requestedWork(r *http.Request) (*stepWork, error) {
	step, err := s.requestedStep(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.workByStep[step.ID]; w != nil {
		return w, nil
	}
	return nil, &inputerr.Error{Message: fmt.Sprintf("step %d has not been shown since kir serve started", step.ID), Hint: "go back to it first"}
}

// recipeText formats a recipe in one line: first the ingredients, the largest amount first, then
// the conditions.
func recipeText(p *compile.Problem, draw keptDraw) string {
	parts := slices.Clone(draw.parts)
	slices.SortFunc(parts, func(a, b mcmc.Part) int { return cmp.Compare(b.Amount, a.Amount) })
	var units []int
	for _, part := range parts {
		units = append(units, part.Amount)
	}
	words := number.Shares(units, p.Total)
	for k, part := range parts {
		words[k] += " " + p.Ingredients[part.Ingredient]
	}
	if set := conditionsText(p, draw.conditions); set != "" {
		words = append(words, set)
	}
	return strings.Join(words, ", ")
}

// requestedStep returns a copy of the step whose id is in the request. If the request has no id, it
// returns a copy of the current step.
func (s *Session) requestedStep(r *http.Request) (*Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.history.Current
	if text := r.URL.Query().Get("step"); text != "" {
		var err error
		if id, err = strconv.Atoi(text); err != nil {
			return nil, &inputerr.Error{Message: inputerr.Quote(text) + " is no step"}
		}
	}
	step, err := s.history.findStep(id)
	if err != nil {
		return nil, err
	}
	copied := *step
	return &copied, nil
}
