package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// A State is the part of the page besides draws and shortlist: the steps, and the problem of
// the current one.
type State struct {
	File       string           `json:"file"`
	StorageKey string           `json:"place"` // distinguishes this problem from others served at the same address
	Step       int              `json:"step"`
	Steps      []StepSummary    `json:"steps"` // the latest steps, and the current one with its parent
	Made       int              `json:"made"`  // number of all steps
	Phase      string           `json:"phase"` // reading, asking, drawing, settled or faulty
	Fault      *Fault           `json:"fault"`
	Commands   []PendingCommand `json:"asks"` // commands that wait to be allowed
	Notes      []string         `json:"notes"`
	Problem    *ProblemView     `json:"problem"` // nil until it is loaded
}

// A StepSummary is a step without its text.
type StepSummary struct {
	ID      int    `json:"id"`
	Parent  int    `json:"parent"`
	Name    string `json:"name"`
	Change  string `json:"change"`
	Settled bool   `json:"settled"`
}

// A ProblemView is the page's view of a problem.
type ProblemView struct {
	Name         string          `json:"name"`
	Words        string          `json:"words"`
	Total        int             `json:"total"`
	Seed         uint64          `json:"seed"`
	Names        []string        `json:"names"` // ingredients, at most mostNames
	Unnamed      int             `json:"unnamed"`
	Attribute    string          `json:"attribute"` // the attribute that makes the groups
	Groups       []string        `json:"groups"`
	Colours      []int           `json:"colours"` // by group
	Members      map[string]int  `json:"members"` // group of each named ingredient that has one
	Grey         int             `json:"grey"`    // colour of everything without its own
	Units        []Unit          `json:"units"`   // units to show amounts in, the problem's own first
	Constraints  []string        `json:"constraints"`
	Conditions   []ConditionView `json:"conditions"`
	Objectives   []ObjectiveView `json:"objectives"`
	Trade        []string        `json:"trade"` // objectives of the trade-off
	Warnings     []string        `json:"warnings"`
	Recipes      []string        `json:"recipes"` // known recipes, at most mostNames
	Compositions string          `json:"left"`    // number of recipes that the rules allow
}

// An ObjectiveView is the page's view of a property.
type ObjectiveView struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	About   string   `json:"about"`
	Weight  float64  `json:"weight"`
	Classes []string `json:"classes"` // classes that a forest can predict
	Numeric bool     `json:"numeric"`
	Low     float64  `json:"low"` // least value of a numeric label
	High    float64  `json:"high"`
}

// maxStepSummaries is the number of latest steps that the page receives.
const maxStepSummaries = 100

// mostNames is the greatest number of names that the page receives.
const mostNames = 5000

// state returns the state of the page.
func (s *Session) state() *State {
	s.mu.Lock()
	out := &State{File: filepath.Base(s.file), StorageKey: s.storageKey(), Step: s.history.Current, Steps: []StepSummary{}, Commands: []PendingCommand{}, Notes: append([]string{}, s.notes...), Phase: "reading"}
	out.Made = len(s.history.Steps)
	current := s.history.current()
	for _, step := range s.history.Steps {
		if step.ID <= out.Made-maxStepSummaries && step.ID != current.ID && step.ID != current.Parent {
			continue
		}
		stop := StepSummary{ID: step.ID, Parent: step.Parent, Name: step.Name, Change: step.Change}
		if w := s.workByStep[step.ID]; w != nil {
			w.mu.Lock()
			stop.Settled = w.model != nil
			w.mu.Unlock()
		}
		out.Steps = append(out.Steps, stop)
	}
	w, m := s.work, s.measure
	s.mu.Unlock()
	if w == nil {
		return out
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.fault != nil:
		out.Phase, out.Fault = "faulty", newFault(w.fault, w.step.Text, m)
	case len(w.pendingCommands) > 0:
		out.Phase, out.Commands = "asking", w.pendingCommands
	case w.model != nil:
		out.Phase = "settled"
	case w.problem != nil:
		out.Phase = "drawing"
	}
	if w.problem != nil {
		out.Problem = newProblemView(w.problem, w.groups, s.palette.groupColours(w.groups))
	}
	return out
}

// storageKey returns the key under which a browser stores data of this problem. Another
// problem can be served at the same address later. The key does not reveal the path of the
// problem.
func (s *Session) storageKey() string {
	sum := sha256.Sum256([]byte(filepath.Join(s.dir, filepath.Base(s.file))))
	return hex.EncodeToString(sum[:8])
}

// publishState sends the state to all pages.
func (s *Session) publishState() error {
	return s.hub.publish("state", func() (any, bool) { return s.state(), true })
}

// newProblemView returns the page's view of a problem.
func newProblemView(p *compile.Problem, g *groups, colours []int) *ProblemView {
	words := report.Problem{Ingredients: len(p.Ingredients), Total: p.Total}
	a := &ProblemView{
		Name: p.Name, Total: p.Total, Seed: p.Sampler.Seed, Attribute: g.attribute, Groups: append([]string{}, g.values...), Colours: colours,
		Members: make(map[string]int), Constraints: []string{}, Objectives: []ObjectiveView{}, Warnings: append([]string{}, p.Warnings...), Recipes: []string{}, Trade: append([]string{}, p.Trade...),
		Compositions: compositionsText(p), Grey: figure.Grey, Units: newMeasure(p).displayUnits(), Conditions: newConditionViews(p.Outline().Conditions),
	}
	a.Names = p.Ingredients[:min(len(p.Ingredients), mostNames)]
	a.Unnamed = len(p.Ingredients) - len(a.Names)
	for i, name := range a.Names {
		if g.byIngredient[i] >= 0 {
			a.Members[name] = g.byIngredient[i]
		}
	}
	m := newMeasure(p)
	rules := p.AllRules()
	slices.SortStableFunc(rules, func(a, b compile.Rule) int { return a.Place - b.Place })
	for _, r := range rules {
		text := r.Text
		if len(r.Rules) == 1 {
			text = m.rule(text, r.Rules[0])
		}
		for len(a.Constraints) < r.Place { // constraints without a rule
			a.Constraints = append(a.Constraints, "constituents")
		}
		if r.Place == len(a.Constraints) {
			a.Constraints = append(a.Constraints, text)
		} else if r.Place >= 0 {
			a.Constraints[r.Place] += "; " + text
		}
	}
	if p.Book != nil {
		words.Recipes = len(p.Book.Recipes)
		for _, r := range p.Book.Recipes[:min(len(p.Book.Recipes), mostNames)] {
			a.Recipes = append(a.Recipes, r.Name)
		}
	}
	a.Words = words.Describe()
	for _, w := range p.Properties {
		objective := ObjectiveView{Name: w.Name, Kind: w.Kind, About: w.About, Weight: w.Weight, Classes: []string{}}
		if f := w.Model; f != nil {
			if objective.Numeric = f.Numeric(); objective.Numeric {
				objective.Low, objective.High = f.Range()
			} else {
				objective.Classes = append(objective.Classes, f.Classes()...)
			}
		}
		a.Objectives = append(a.Objectives, objective)
	}
	return a
}

// compositionsText returns how many recipes the rules allow, as a power of ten if the number
// is large.
func compositionsText(p *compile.Problem) string {
	log := logCount(p)
	if math.IsInf(log, -1) {
		return "none"
	}
	if log < 12*math.Ln10 { // above this the last digits would be rounding errors
		return number.Thousands(int64(math.Round(portable.Exp(log))))
	}
	tens := math.Floor(log / math.Ln10)
	return fmt.Sprintf("%.1f · 10%s", portable.Exp(log-float64(tens*math.Ln10)), raised.Replace(fmt.Sprintf("%.0f", tens)))
}

// raised writes digits as superscripts.
var raised = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// logCount returns the log of the number of recipes whose number of ingredients has a positive
// probability.
func logCount(p *compile.Problem) float64 {
	lo, hi := p.Target.Law().Support()
	logs := p.Target.Space().LogCounts(hi)
	top := math.Inf(-1)
	for n := lo; n <= hi; n++ {
		top = max(top, logs[n])
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for n := lo; n <= hi; n++ {
		if p.Target.Law().P(n) > 0 {
			sum += portable.Exp(logs[n] - top)
		}
	}
	return top + portable.Log(sum)
}
