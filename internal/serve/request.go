package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/campaign"
	"kir/internal/config/change"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/report/view"
)

// A Request is an action of the user, as the page sends it. The field Action names the action. Each
// action uses only some of the other fields.
type Request struct {
	Action string `json:"do"` // name of the action

	Ingredient  string         `json:"ingredient"` // name of an ingredient
	Replacement string         `json:"by"`         // ingredient that replaces Ingredient
	Amount      string         `json:"amount"`     // number of units, or a percentage
	Min         string         `json:"min"`        // least amount: a number of units, or a percentage; empty: no bound
	Max         string         `json:"max"`        // greatest amount: a number of units, or a percentage; empty: no bound
	Attribute   string         `json:"attribute"`  // name of an attribute of the ingredients
	Value       string         `json:"value"`      // value of the attribute
	Recipe      map[string]int `json:"recipe"`     // maps the name of an ingredient to the amount in units
	Changes     int            `json:"changes"`    // maximum number of differences between Recipe and the recipes to search for
	Property    string         `json:"property"`   // name of a property that scores recipes
	Weight      float64        `json:"weight"`     // weight of the property
	Direction   string         `json:"way"`        // direction of an objective, such as high or low
	Aim         any            `json:"aim"`        // number, range or classes that the objective aims at
	Text        string         `json:"text"`       // text of the action, such as a rule or a name
	Rule        int            `json:"rule"`       // index of a rule or of a fix; for the action that sets the seed, the seed
	Step        int            `json:"step"`       // id of a step, that is, of a version of the problem
	Trade       []string       `json:"trade"`      // names of the trade-off's objectives; empty if there is to be no trade-off
	Overwrite   bool           `json:"over"`       // whether an existing file may be replaced

	Size     int            `json:"size"`     // number of recipes in a batch
	Results  []RecipeResult `json:"results"`  // results to record
	Withdraw bool           `json:"withdraw"` // whether to withdraw Results instead of recording them

	Better map[string]int `json:"better"` // recipe that the user prefers: maps the name of an ingredient to the amount in units
	Worse  map[string]int `json:"worse"`  // recipe that Better is preferred to: maps the name of an ingredient to the amount in units

	Condition      string `json:"condition"` // name of a condition
	ConditionValue any    `json:"set"`       // value at which Condition is fixed, a number or a text; nil if the value is to be chosen together with the recipes
}

// problemChanges returns the changes of the problem file that a request asks for, and a description
// of the changes. The result ok is false if the action does not change the problem file.
func (r *Request) problemChanges(m amountConverter) (description string, changes []change.Change, ok bool) {
	switch r.Action {
	case "pin":
		if r.Amount == "" {
			return "with " + r.Ingredient, []change.Change{change.Pin{Ingredient: r.Ingredient}}, true
		}
		return r.Ingredient + " kept at " + m.amountText(r.Amount), []change.Change{change.Pin{Ingredient: r.Ingredient, Amount: m.toProblemAmount(r.Amount)}}, true
	case "ban":
		return "without " + r.Ingredient, []change.Change{change.Exclude{Ingredient: r.Ingredient}}, true
	case "replace":
		return r.Replacement + " instead of " + r.Ingredient, []change.Change{change.Exclude{Ingredient: r.Ingredient}, change.Pin{Ingredient: r.Replacement}}, true
	case "dose":
		least := r.Min
		if units, ok := m.parseUnits(least); ok && units == 0 && r.Max != "" {
			least = "" // a used ingredient has at least a unit anyway
		}
		return r.Ingredient + " " + m.rangeText(least, r.Max), []change.Change{change.Bound{Ingredient: r.Ingredient, Min: m.toProblemAmount(least), Max: m.toProblemAmount(r.Max)}}, true
	case "group":
		return r.Value + " " + m.rangeText(r.Min, r.Max), []change.Change{change.Group{Attribute: r.Attribute, Value: r.Value, Min: m.toProblemAmount(r.Min), Max: m.toProblemAmount(r.Max)}}, true
	case "near":
		near := change.Near{Changes: r.Changes}
		for _, name := range slices.Sorted(maps.Keys(r.Recipe)) {
			near.Parts = append(near.Parts, change.Part{Ingredient: name, Amount: r.Recipe[name]})
		}
		return "near a recipe: at most " + number.CountWithNoun(r.Changes, "ingredient") + " more or fewer", []change.Change{near}, true
	case "weight":
		return fmt.Sprintf("importance of %s: %v", r.Property, r.Weight), []change.Change{change.Weight{Property: r.Property, Weight: r.Weight}}, true
	case "aim":
		return fmt.Sprintf("%s: %s %v", r.Property, strings.ReplaceAll(r.Direction, "_", " "), r.Aim), []change.Change{change.SetObjective{Property: r.Property, Way: r.Direction, Value: toIntegers(r.Aim)}}, true
	case "trade":
		description = "no trade-off"
		if len(r.Trade) > 0 {
			description = "trade-off of " + strings.Join(r.Trade, ", ")
		}
		return description, []change.Change{change.Trade{Objectives: r.Trade}}, true
	case "rule":
		return "constraint: " + strings.Join(strings.Fields(r.Text), " "), []change.Change{change.AddRule{Text: r.Text}}, true
	case "drop":
		return fmt.Sprintf("without constraint %d", r.Rule+1), []change.Change{change.DropRule{Rule: r.Rule}}, true
	case "set":
		description = r.Condition + " is chosen with the recipes"
		if r.ConditionValue != nil {
			description = r.Condition + " at " + m.conditionText(r.Condition, r.ConditionValue)
		}
		return description, []change.Change{change.Given{Condition: r.Condition, Value: toIntegers(r.ConditionValue)}}, true
	case "seed":
		return fmt.Sprintf("seed %d", r.Rule), []change.Change{change.Setting{Path: []string{"sampler", "seed"}, Value: r.Rule}}, true
	}
	return "", nil, false
}

// toIntegers converts a whole number that was decoded from JSON from float64 to int. If v is a
// list, toIntegers converts the elements. Other values stay unchanged.
func toIntegers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v)
		}
	case []any:
		for k := range v {
			v[k] = toIntegers(v[k])
		}
	}
	return v
}

// An Answer is the response to a [Request].
type Answer struct {
	Done bool   `json:"done"` // whether the action was done
	Text string `json:"text"` // what was recorded, in words, or the path of the saved file; otherwise empty

	Notes []string `json:"notes,omitempty"` // further messages for the user
}

// handleRequest performs the action of a request.
func (s *Session) handleRequest(r *Request) (*Answer, error) {
	if words, all, ok := r.problemChanges(s.currentAmountConverter()); ok {
		const most = 300
		if len(words) > most {
			words = words[:most] + "…"
		}
		return &Answer{Done: true}, s.applyChanges(strings.ToValidUTF8(words, ""), all...)
	}
	switch r.Action {
	case "way":
		return &Answer{Done: true}, s.applyFix(r.Rule)
	case "text":
		return &Answer{Done: true}, s.addStep(r.Step, "text edited by hand", r.Text)
	case "back":
		return &Answer{Done: true}, s.goToStep(r.Step)
	case "name":
		return &Answer{Done: true}, s.nameStep(r.Step, r.Text)
	case "allow":
		if err := s.allowCommand(r.Text); err != nil {
			return nil, err
		}
		return &Answer{Done: true}, s.publishState()
	case "prefer":
		return &Answer{Done: true}, s.recordPreference(r.Better, r.Worse)
	case "next":
		return &Answer{Done: true}, s.nextBatch(r.Size)
	case "record", "paste":
		var out *campaign.RecordSummary
		var err error
		if r.Action == "paste" {
			out, err = s.recordTable(r.Text)
		} else {
			out, err = s.recordResults(r.Results, r.Withdraw)
		}
		if err != nil {
			return nil, err
		}
		return &Answer{Done: true, Text: view.RecordedText(out), Notes: out.Notes}, nil
	case "save":
		path, err := s.saveAs(r.Step, r.Text, r.Overwrite)
		return &Answer{Done: true, Text: path}, err
	}
	return nil, &inputerr.Error{Message: "nothing is done for " + inputerr.Quote(r.Action)}
}

// applyFix makes the changes of the fix with index k for the error of the current step.
func (s *Session) applyFix(k int) error {
	s.mu.Lock()
	w := s.currentStepWork
	s.mu.Unlock()
	w.mu.Lock()
	err, text := w.fault, w.step.Text
	w.mu.Unlock()
	ways := findFixes(err, text, s.currentAmountConverter())
	if k < 0 || k >= len(ways) || ways[k].changes == nil {
		return &inputerr.Error{Message: "there is no such fix any more"}
	}
	return s.applyChanges(ways[k].description, ways[k].changes...)
}

// readRequest decodes a request from JSON. An unknown field is an error.
func readRequest(data []byte) (*Request, error) {
	var r Request
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, &inputerr.Error{Message: "the request is not understood", Hint: err.Error()}
	}
	return &r, nil
}
