package change_test

import (
	"fmt"
	"testing"

	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/testonly/golden"
)

// TestChanges keeps what every kind of change makes of a text, and what is said where
// it makes none.
func TestChanges(t *testing.T) {
	kept := golden.Open(t)
	const text = "total: 100\nproperties:\n  taste: {forest: {label: taste, want: Fresh, at_least: 1}, weight: 1}\n  cost:\n    blend:\n      attribute: cost\n      smaller: {from: 1, to: 9} # euros\n      larger: {from: 1, to: 2}\n  run: {program: {command: x}}\nconstraints: # what must be\n  - require: [Gin, Rum]\n  - amount: {of: [Gin], min: 10, max: 50} # a dose\n  - amount: {of: Rum, within: recipes}\n  - never: [Milk, Lemon]\n  - group: {of: {kind: juice, phase: 1}, total: [5, \"30%\"]}\n  - group: {of: [Gin], total: [1, 2]}\n  - group: {total: [1, 2]}\n  - amount: {min: 3}\n  - exclude: Milk\n  - exclude: Milk\n  - near: {recipe: a, changes: 1}\n  - near: {recipe: b, changes: 1}\n"
	texts := map[string]string{"all": text, "none": "total: 100\n", "no list": "constraints: 3\nproperties: [1]\n", "brackets": "{total: 1, properties: {a: {blend: {normal: {mean: 1, sd: 2}}}}, constraints: [{require: Gin}, {amount: {of: Gin, max: 3}}]}", "nothing": "constraints: ~\n"}
	for name, text := range texts {
		for _, c := range []change.Change{
			change.AddRule{Text: "never: [Gin, Milk]"}, change.AddRule{Text: "- a"}, change.AddRule{Text: "a"}, change.AddRule{Text: "a: ["}, change.AddRule{Text: "amount: {of: {kind: \"a b\"}, min: 1.5}"},
			change.SetRuleField{Place: 1, Kind: "amount", Key: "max", Value: 60}, change.SetRuleField{Place: 1, Kind: "amount", Key: "max"}, change.SetRuleField{Place: 1, Kind: "amount", Key: "step", Value: "5%"}, change.SetRuleField{Place: 0, Kind: "require", Value: "Gin"},
			change.SetRuleField{Place: 3, Kind: "group", Key: "used", Value: 2}, change.SetRuleField{Place: 3, Kind: "never", Value: []any{"Milk"}}, change.SetRuleField{Place: 3, Kind: "amount", Value: 1}, change.SetRuleField{Place: 1, Kind: "group", Key: "used", Value: 1}, change.SetRuleField{Place: -1, Kind: "require"}, change.SetRuleField{Place: 11, Kind: "near", Key: "changes", Value: 0}, change.SetRuleField{Place: 12, Kind: "near"}, change.SetRuleField{Place: 1, Kind: "amount", Key: "within"},
			change.Weight{Property: "cost", Weight: 0}, change.Weight{Property: "taste", Weight: 1e-7}, change.Weight{Property: "costs", Weight: 1}, change.Weight{Property: "other", Weight: 1},
			change.SetObjective{Property: "taste", Way: "between", Value: []any{1, 2.5}}, change.SetObjective{Property: "cost", Way: "larger", Value: 1}, change.SetObjective{Property: "cost", Way: "normal", Value: yaml.Map{{Key: "mean", Value: 1}, {Key: "sd", Value: 0.1}}}, change.SetObjective{Property: "a", Way: "target", Value: 4}, change.SetObjective{Property: "taste", Way: "larger"}, change.SetObjective{Property: "cost", Way: "want"}, change.SetObjective{Property: "run", Way: "want"}, change.SetObjective{Property: "none", Way: "want"},
			change.Pin{Ingredient: "Gin"}, change.Pin{Ingredient: "Milk", Amount: " 20 % "}, change.Pin{Ingredient: "Rum", Amount: "0"}, change.Pin{Ingredient: "Rum", Amount: "-1"}, change.Pin{Ingredient: "Rum", Amount: "%"}, change.Pin{Ingredient: "Rum", Amount: "1e2%"}, change.Exclude{Ingredient: "Gin"}, change.Exclude{Ingredient: "Milk"}, change.Exclude{Ingredient: "Water"},
			change.Bound{Ingredient: "Gin", Min: "2.5%"}, change.Bound{Ingredient: "Gin", Max: "7"}, change.Bound{Ingredient: "Gin"}, change.Bound{Ingredient: "Rum", Min: "1", Max: "2"}, change.Bound{Ingredient: "Rum", Min: "x"}, change.Bound{Ingredient: "Rum", Max: "1.5"}, change.Bound{Ingredient: "Milk", Max: "3"},
			change.Group{Attribute: "kind", Value: "juice", Min: "1"}, change.Group{Attribute: "phase", Value: "1", Max: "50%"}, change.Group{Attribute: "kind", Value: "juice", Min: "a"}, change.Group{Attribute: "kind", Value: "juice", Max: "b"},
			change.Near{Recipe: "c", Changes: 3}, change.Near{Parts: []change.Part{{"Gin", 3}}, Changes: 0}, change.DropRule{Rule: 0}, change.DropRule{Rule: 11}, change.DropRule{Rule: 12}, change.DropRule{Rule: -1},
			change.Setting{Path: []string{"sampler", "chains"}, Value: 4}, change.Setting{Path: []string{"total"}, Value: "1 kg"}, change.Setting{Path: []string{"name"}, Value: "x"}, change.Setting{Path: []string{"properties", "run", "program"}, Value: []any{}},
		} {
			got, err := change.Apply("p.yaml", []byte(text), c)
			said := fmt.Sprint(err)
			if err == nil {
				said = change.Diff("a", []byte(text), "b", got)
			}
			kept.CheckText(t, fmt.Sprintf("%s: %T %+v", name, c, c), said)
		}
	}
}
