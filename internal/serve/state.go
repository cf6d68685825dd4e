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
	"kir/internal/report/figure"
	"kir/rule"
)

// A State is everything that the page shows except the draws and the shortlist: the steps and the
// problem of the current step.
type State struct {
	File       string           `json:"file"`    // name of the problem file
	StorageKey string           `json:"place"`   // key under which a browser stores data of this problem; see storageKey
	Step       int              `json:"step"`    // id of the current step, that is, of the version of the problem that the page shows
	Steps      []StepSummary    `json:"steps"`   // latest steps, and also the current step and its parent
	StepCount  int              `json:"made"`    // number of all steps
	Phase      string           `json:"phase"`   // what the work on the current step does: "reading" the problem, "asking" to allow a program, "drawing", "settled" after the run, or "faulty"
	Fault      *Fault           `json:"fault"`   // error in the current step; nil: none
	Commands   []PendingCommand `json:"asks"`    // programs that wait until the user allows them
	Notes      []string         `json:"notes"`   // messages about the current step
	Problem    *ProblemView     `json:"problem"` // problem of the current step; nil until the problem is loaded
}

// A StepSummary is a [Step] that lacks the text of the problem file.
type StepSummary struct {
	ID      int    `json:"id"`
	Parent  int    `json:"parent"` // id of the step from which this step was made; 0 if it was made from no step
	Name    string `json:"name"`
	Change  string `json:"change"`  // description of the change from the parent
	Settled bool   `json:"settled"` // whether the run of the step has finished
}

// A ProblemView is what the page shows of a problem.
type ProblemView struct {
	Name              string          `json:"name"`
	Words             string          `json:"words"` // one-line description of the problem
	Total             int             `json:"total"` // sum of the amounts of a recipe in units
	Seed              uint64          `json:"seed"`
	Names             []string        `json:"names"`       // names of the ingredients, at most maxShownNames
	UnnamedCount      int             `json:"unnamed"`     // number of ingredients whose names are not in Names
	Attribute         string          `json:"attribute"`   // name of the attribute whose values form the groups; empty if there are no groups
	Groups            []string        `json:"groups"`      // names of the groups of ingredients
	Colours           []int           `json:"colours"`     // item g is the number of the colour of group g
	GroupOfIngredient map[string]int  `json:"members"`     // maps the name of an ingredient to the index of its group
	GreyColour        int             `json:"grey"`        // number of the colour for everything that has no colour of its own
	Units             []Unit          `json:"units"`       // units in which the page can show amounts; the unit of the known recipes comes first
	Constraints       []string        `json:"constraints"` // text of each constraint, in the order of the problem file
	Required          []string        `json:"required"`    // names of the ingredients that every recipe uses by a constraint
	Excluded          []string        `json:"excluded"`    // names of the ingredients that no recipe uses by a constraint
	Conditions        []ConditionView `json:"conditions"`
	Objectives        []ObjectiveView `json:"objectives"`
	Trade             []string        `json:"trade"` // names of the trade-off's objectives
	Warnings          []string        `json:"warnings"`
	Recipes           []string        `json:"recipes"` // names of the known recipes, at most maxShownNames
	Compositions      string          `json:"left"`    // number of recipes that the rules allow, in words
}

// An ObjectiveView is what the page shows of a property that scores recipes.
type ObjectiveView struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`  // kind of the property
	About   string   `json:"about"` // description of the property
	Weight  float64  `json:"weight"`
	Classes []string `json:"classes"` // classes that the random forest of the property can predict
	Numeric bool     `json:"numeric"` // whether the random forest of the property predicts numbers
	Low     float64  `json:"low"`     // least value of a numeric label
	High    float64  `json:"high"`    // greatest value of a numeric label
}

// maxStepSummaries is the maximum number of latest steps that the page receives.
const maxStepSummaries = 100

// maxShownNames is the maximum number of names of ingredients that the page receives. The same
// limit holds for names of recipes.
const maxShownNames = 5000

// pageState returns everything that the page shows except the draws and the shortlist.
func (s *Session) pageState() *State {
	s.mu.Lock()
	out := &State{File: filepath.Base(s.problemPath), StorageKey: s.storageKey(), Step: s.history.Current, Steps: []StepSummary{}, Commands: []PendingCommand{}, Notes: append([]string{}, s.stepNotes...), Phase: "reading"}
	out.StepCount = len(s.history.Steps)
	current := s.history.currentStep()
	for _, step := range s.history.Steps {
		if step.ID <= out.StepCount-maxStepSummaries && step.ID != current.ID && step.ID != current.Parent {
			continue
		}
		stop := StepSummary{ID: step.ID, Parent: step.Parent, Name: step.Name, Change: step.Change}
		if w := s.workByStep[step.ID]; w != nil {
			w.mu.Lock()
			stop.Settled = w.runResults != nil
			w.mu.Unlock()
		}
		out.Steps = append(out.Steps, stop)
	}
	w, m := s.currentStepWork, s.amountConverter
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
	case w.runResults != nil:
		out.Phase = "settled"
	case w.problem != nil:
		out.Phase = "drawing"
	}
	if w.problem != nil {
		out.Problem = newProblemView(w.problem, w.groups, s.palette.groupColours(w.groups))
	}
	return out
}

// storageKey returns the key under which a browser stores data of this problem. Another problem may
// later be served at the same address and then has another key. The key does not reveal the path of
// the problem file.
func (s *Session) storageKey() string {
	sum := sha256.Sum256([]byte(filepath.Join(s.problemDir, filepath.Base(s.problemPath))))
	return hex.EncodeToString(sum[:8])
}

// publishState sends the [State] to all open pages.
func (s *Session) publishState() error {
	return s.hub.publish("state", func() (any, bool) { return s.pageState(), true })
}

// newProblemView returns what the page shows of a problem. Item g of groupColours is the number of
// the colour of group g.
func newProblemView(p *compile.Problem, groups *ingredientGroups, groupColours []int) *ProblemView {
	a := &ProblemView{
		Name: p.Name, Words: number.CountWithNoun(len(p.Ingredients), "ingredient"), Total: p.Total, Seed: p.Sampler.Seed, Attribute: groups.attributeName, Groups: append([]string{}, groups.values...), Colours: groupColours,
		GroupOfIngredient: make(map[string]int), Constraints: []string{}, Required: []string{}, Excluded: []string{}, Objectives: []ObjectiveView{}, Warnings: append([]string{}, p.Warnings...), Recipes: []string{}, Trade: append([]string{}, p.Trade...),
		Compositions: recipeCountText(p), GreyColour: figure.Grey, Units: newAmountConverter(p).displayUnits(), Conditions: newConditionViews(p.Outline().Conditions),
	}
	a.Names = p.Ingredients[:min(len(p.Ingredients), maxShownNames)]
	a.UnnamedCount = len(p.Ingredients) - len(a.Names)
	for i, name := range a.Names {
		if groups.groupOfIngredient[i] >= 0 {
			a.GroupOfIngredient[name] = groups.groupOfIngredient[i]
		}
	}
	rules := p.AllRules()
	slices.SortStableFunc(rules, func(a, b compile.Rule) int { return a.ConstraintIndex - b.ConstraintIndex })
	for _, r := range rules {
		text := r.Text
		for _, one := range r.Rules {
			switch one := one.(type) {
			case rule.Require:
				a.Required = append(a.Required, ingredientNames(p, one.Of)...)
			case rule.Exclude:
				a.Excluded = append(a.Excluded, ingredientNames(p, one.Of)...)
			}
		}
		for len(a.Constraints) < r.ConstraintIndex { // constraints without a rule
			a.Constraints = append(a.Constraints, "constituents")
		}
		if r.ConstraintIndex == len(a.Constraints) {
			a.Constraints = append(a.Constraints, text)
		} else if r.ConstraintIndex >= 0 {
			a.Constraints[r.ConstraintIndex] += "; " + text
		}
	}
	if p.Book != nil {
		a.Words = number.CountWithNoun(len(p.Book.Recipes), "known recipe") + ", " + a.Words
		for _, r := range p.Book.Recipes[:min(len(p.Book.Recipes), maxShownNames)] {
			a.Recipes = append(a.Recipes, r.Name)
		}
	}
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

// ingredientNames returns the names of the ingredients with the given indices.
func ingredientNames(p *compile.Problem, indices []int) []string {
	names := make([]string, len(indices))
	for k, i := range indices {
		names[k] = p.Ingredients[i]
	}
	return names
}

// recipeCountText returns the number of recipes that the rules allow. A large number is written as
// a power of ten.
func recipeCountText(p *compile.Problem) string {
	log := logRecipeCount(p)
	if math.IsInf(log, -1) {
		return "none"
	}
	if log < 12*math.Ln10 { // above this the last digits would be rounding errors
		return number.Thousands(int64(math.Round(portable.Exp(log))))
	}
	tens := math.Floor(log / math.Ln10)
	return fmt.Sprintf("%.1f · 10%s", portable.Exp(log-float64(tens*math.Ln10)), superscripts.Replace(fmt.Sprintf("%.0f", tens)))
}

// superscripts replaces each digit by the superscript digit.
var superscripts = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// logRecipeCount returns the logarithm of the number of recipes that the problem allows.
func logRecipeCount(p *compile.Problem) float64 {
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
