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

// A RulePreview shows how many recipes and draws a change of the rules would leave.
type RulePreview struct {
	Remaining string `json:"left"`  // number of recipes with the change
	Current   string `json:"of"`    // number of recipes without it
	Draws     string `json:"draws"` // how many of the current draws satisfy the change
	Fault     *Fault `json:"fault"`
}

// answerRulePreview responds with the effect of a change on the current problem, without
// making it. The query has the change in the form of a [Request].
func (s *Session) answerRulePreview(r *http.Request) (any, error) {
	request, err := readRequest([]byte(r.URL.Query().Get("change")))
	if err != nil {
		return nil, err
	}
	_, all, ok := request.changes(s.currentMeasure())
	if !ok {
		return nil, &inputerr.Error{Message: "this is no change of rules"}
	}
	step, err := s.stepOf(r)
	if err != nil {
		return nil, err
	}
	text, err := change.Apply(filepath.Base(s.file), []byte(step.Text), all...)
	if err != nil {
		return nil, err
	}
	out := &RulePreview{}
	_, now, kept, err := s.currentWork()
	if err == nil {
		out.Current = compositionsText(now)
	}
	p, err := s.loadText(r.Context(), text)
	if err != nil {
		out.Fault = newFault(err, string(text), s.currentMeasure())
		out.Remaining = "none"
		return out, nil
	}
	defer p.Close()
	out.Remaining = compositionsText(p)
	if now != nil && p.Total == now.Total && slices.Equal(p.Ingredients, now.Ingredients) {
		fit, _ := newChains(p.Target).reusableDraws(slices.Concat(kept...))
		n := 0
		for _, draws := range kept {
			n += len(draws)
		}
		out.Draws = fmt.Sprintf("%s of %s draws", number.Thousands(len(fit)), number.Thousands(n))
	}
	return out, nil
}

// loadText loads a problem from a text.
func (s *Session) loadText(ctx context.Context, text []byte) (*compile.Problem, error) {
	return s.load(ctx, text, compile.Options{})
}
