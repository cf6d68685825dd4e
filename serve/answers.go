package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"kir"
	"kir/fault"
	"kir/problem"
	"kir/problem/change"
	"kir/report/number"
)

// working returns the work on the current step with what it has made so far.
func (s *Session) working() (w *work, p *problem.Problem, kept [][]keptDraw, err error) {
	s.mu.Lock()
	w = s.work
	s.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == nil || w.chains == nil {
		return nil, nil, nil, &fault.Error{Message: "there are no draws yet"}
	}
	kept, _ = w.chains.draws()
	return w, w.problem, kept, nil
}

// amounts answers how much the draws have of an ingredient or of a group.
func (s *Session) amounts(r *http.Request) (any, error) {
	w, p, kept, err := s.working()
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if name := q.Get("group"); name != "" {
		k := slices.Index(w.groups.values, name)
		if k < 0 {
			return nil, &fault.Error{Message: "there is no group " + fault.Quote(name)}
		}
		return newDistribution(name, p.Total, kept, func(i int) bool { return w.groups.of[i] == k }), nil
	}
	i := slices.Index(p.Ingredients, q.Get("of"))
	if i < 0 {
		return nil, &fault.Error{Message: "there is no ingredient " + fault.Quote(q.Get("of"))}
	}
	return newDistribution(q.Get("of"), p.Total, kept, func(j int) bool { return j == i }), nil
}

// A Text is a step's problem as it is written.
type Text struct {
	Text       string `json:"text"`
	Difference string `json:"difference"` // from another step's
	Command    string `json:"command"`    // that does the same
	Against    int    `json:"against"`
}

// text answers a step's problem as text, and its difference from another step's, or
// from the first.
func (s *Session) text(r *http.Request) (any, error) {
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
	return &Text{
		Text: step.Text, Against: against.ID, Command: "kir sample " + name,
		Difference: change.Diff(fmt.Sprintf("step %d", against.ID), []byte(against.Text), fmt.Sprintf("step %d", step.ID), []byte(step.Text)),
	}, nil
}

// listOf answers the shortlist that a step had when it was last looked at.
func (s *Session) listOf(r *http.Request) (any, error) {
	step, err := s.stepOf(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	w := s.works[step.ID]
	s.mu.Unlock()
	if w == nil {
		return nil, &fault.Error{Message: fmt.Sprintf("step %d has not been looked at since the page is served", step.ID), Hint: "go back to it first"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		return nil, &fault.Error{Message: fmt.Sprintf("step %d has no shortlist yet", step.ID)}
	}
	return w.list, nil
}

// Leaves is what a rule would leave.
type Leaves struct {
	Left  string `json:"left"`  // compositions, of the sizes that the law has
	Of    string `json:"of"`    // without it
	Draws string `json:"draws"` // of the draws there are, those that keep it
	Fault *Fault `json:"fault"`
}

// leaves answers what the current problem would be with a change, which stands in
// the query as the page would send it. Nothing is changed.
func (s *Session) leaves(r *http.Request) (any, error) {
	request, err := readRequest([]byte(r.URL.Query().Get("change")))
	if err != nil {
		return nil, err
	}
	_, all, ok := request.changes()
	if !ok {
		return nil, &fault.Error{Message: "this is no change of rules"}
	}
	step, err := s.stepOf(r)
	if err != nil {
		return nil, err
	}
	text, err := change.Apply(filepath.Base(s.file), []byte(step.Text), all...)
	if err != nil {
		return nil, err
	}
	out := &Leaves{}
	_, now, kept, err := s.working()
	if err == nil {
		out.Of = left(now)
	}
	p, err := s.try(r.Context(), text)
	if err != nil {
		out.Fault = newFault(err, string(text))
		out.Left = "none"
		return out, nil
	}
	defer p.Close()
	out.Left = left(p)
	if now != nil && p.Total == now.Total && slices.Equal(p.Ingredients, now.Ingredients) {
		fit, _ := newChains(p.Target).fitting(slices.Concat(kept...))
		n := 0
		for _, draws := range kept {
			n += len(draws)
		}
		out.Draws = fmt.Sprintf("%s of %s draws", number.Thousands(len(fit)), number.Thousands(n))
	}
	return out, nil
}

// try reads a text as a problem.
func (s *Session) try(ctx context.Context, text []byte) (*problem.Problem, error) {
	return problem.Load(ctx, s.file, problem.Options{Text: text, Allow: s.allow, Grown: &s.grown})
}

// recipeText is a composition in a line, the largest part first.
func recipeText(p *problem.Problem, x keptDraw) string {
	parts := slices.Clone(x.parts)
	slices.SortFunc(parts, func(a, b kir.Part) int { return cmp.Compare(b.Amount, a.Amount) })
	var words []string
	for _, part := range parts {
		words = append(words, strings.TrimSpace(number.Share(part.Amount, p.Total))+" "+p.Ingredients[part.Ingredient])
	}
	return strings.Join(words, ", ")
}
