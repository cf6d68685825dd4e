package serve

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/inputerr"
	"kir/internal/number"
)

// A RulePreview says how many recipes and draws remain if the rules are changed.
type RulePreview struct {
	Remaining string `json:"left"`  // number of recipes that the changed rules allow, in words
	Current   string `json:"of"`    // number of recipes that the present rules allow, in words
	Draws     string `json:"draws"` // number of current draws that satisfy the changed rules, in words
	Fault     *Fault `json:"fault"` // error in the changed problem; nil: none
}

// respondWithRulePreview responds with the effect that a change of the rules would have, without making
// the change. The query of the HTTP request has the change as a [Request] in JSON.
func (s *Session) respondWithRulePreview(r *http.Request) (any, error) {
	request, err := readRequest([]byte(r.URL.Query().Get("change")))
	if err != nil {
		return nil, err
	}
	_, all, ok := request.problemChanges(s.currentAmountConverter())
	if !ok {
		return nil, &inputerr.Error{Message: "this is no change of rules"}
	}
	step, err := s.requestedStep(r)
	if err != nil {
		return nil, err
	}
	text, err := change.Apply(filepath.Base(s.problemPath), []byte(step.Text), all...)
	if err != nil {
		return nil, err
	}
	out := &RulePreview{}
	now, kept, err := s.currentWork().loaded()
	if err == nil {
		out.Current = recipeCountText(now)
	}
	p, err := s.loadProblemText(r.Context(), text)
	if err != nil {
		out.Fault = newFault(err, string(text), s.currentAmountConverter())
		out.Remaining = "none"
		return out, nil
	}
	defer p.Close()
	out.Remaining = recipeCountText(p)
	if now != nil && p.Total == now.Total && slices.Equal(p.Ingredients, now.Ingredients) {
		fit, _ := newDrawingChains(p.Target, new(processorGate)).reusableDraws(slices.Concat(kept...))
		n := 0
		for _, draws := range kept {
			n += len(draws)
		}
		out.Draws = fmt.Sprintf("%s of %s draws", number.Thousands(len(fit)), number.Thousands(n))
	}
	return out, nil
}

// loadProblemText loads a problem from the text of a problem file.
func (s *Session) loadProblemText(ctx context.Context, text []byte) (*compile.Problem, error) {
	return s.loadProblem(ctx, text, compile.Options{})
}
