package serve

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"

	"kir/internal/fault"
	"kir/internal/number"
	"kir/internal/problem"
	"kir/internal/problem/change"
)

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
	_, all, ok := request.changes(s.measured())
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
		out.Fault = newFault(err, string(text), s.measured())
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
	return s.load(ctx, text, problem.Options{})
}
