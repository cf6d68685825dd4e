package compile

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/testonly/stattest"
	"kir/mcmc"
	"kir/rule"
)

// togetherKind has ingredients used all or none.
var togetherKind = config.ConstraintKind{
	Key: schema.NewKey("together", schema.Link("together"), "", "all of them, or none", "{together: {of: [Gin, Rum]}}"),
	New: func(*config.Kinds) config.Constraint { return new(together) },
}

type together struct{ Of config.Ingredients }

func (r *together) Sections() schema.Sections {
	of := schema.NewKey("of", schema.Ingredients(), "", "the members", "{of: [Gin, Rum]}")
	of.Read = func(n *yaml.Node) error { r.Of = n; return nil }
	return schema.Sections{{
		Name: "together", ID: "together", About: "Ingredients that come all or not at all.",
		Keys:     []schema.Key{of},
		Required: []string{"of"},
		Mistakes: map[string]string{"all": "write of: together: {of: [Gin, Rum]}"},
	}}
}

func (r *together) Decode(n *yaml.Node) error {
	if err := n.Require("together", "name them", "of"); err != nil {
		return err
	}
	return r.Sections()[0].Decode(n)
}

func (r *together) Compile(_ context.Context, d *config.Data) ([]config.Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	all := config.Demand{Text: "together " + text}
	for k, i := range of {
		next := of[(k+1)%len(of)]
		all.Rules = append(all.Rules, rule.Need{If: i, Then: []int{next}})
		all.RuleTexts = append(all.RuleTexts, d.IngredientNames[i]+" needs "+d.IngredientNames[next])
	}
	return []config.Demand{all}, nil
}

// evenKind is how even the amounts are: the least by the greatest, to a power.
var evenKind = propertyKind{
	PropertyKind: config.PropertyKind{
		Key: schema.NewKey("even", schema.Link("even"), "", "amounts alike", "{even: {power: 2}}"),
		New: func() config.Value { return new(even) },
	},
	compile: withValueType(func(_ context.Context, _ *readContext, v *even, _ *yaml.Node) (Property, error) {
		power := v.Power.Or(1)
		var resolved yaml.Map
		resolved.Set("power", power)
		score := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return evenness(x.Amounts(), power) })
		return Property{About: "amounts alike", mcmcProperty: score, resolvedValue: resolved}, nil
	}),
	scoresEverySplit: alwaysScoresEverySplit,
}

type even struct{ Power config.Written[float64] }

func (v *even) Sections() schema.Sections {
	power := schema.NewKey("power", schema.AtLeast(0), "1", "to this power", "{power: 2}")
	power.Read = func(n *yaml.Node) (err error) {
		v.Power.Value, err = n.Weight("the power")
		v.Power.Node = n
		return err
	}
	return schema.Sections{{
		Name: "even", ID: "even", About: "The least amount by the greatest.",
		Keys: []schema.Key{power},
	}}
}

func (v *even) Decode(n *yaml.Node) error { return v.Sections()[0].Decode(n) }

func evenness[T int | int32](amounts []T, power float64) float64 {
	least, most := T(math.MaxInt32), T(0)
	for _, a := range amounts {
		if a > 0 {
			least, most = min(least, a), max(most, a)
		}
	}
	return math.Pow(float64(least)/float64(most), power)
}

// extended returns all kinds and one more of each.
func extended() *kinds {
	k := allKinds()
	k.constraints, k.properties = append(k.constraints, togetherKind), append(k.properties, evenKind)
	return k
}

// TestExtending: a kind of rule and one of property are a registration each. From that a
// problem with them is read and sampled from the law that it says, mistakes in it are
// explained, and the reference and the JSON Schema describe it.
func TestExtending(t *testing.T) {
	file := filepath.Join(t.TempDir(), "problem.yaml")
	loaded := func(rule, property string) (*Problem, error) {
		text := "total: 6\ningredients: [Gin, Rum, Lime, Mint]\nsparsity: {uniform: [1, 4]}\nproperties: {balance: {" + property + "}}\nconstraints: [{" + rule + "}]\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return loadWithKinds(t.Context(), file, Options{}, extended())
	}
	p, err := loaded("together: {of: [Gin, Rum]}", "even: {power: 2}, weight: 0.5")
	if err != nil {
		t.Fatal(err)
	}
	if p.Rules[0].Text != "together Gin, Rum" || p.Properties[0].Kind != "even" || !strings.Contains(string(p.Resolved), "even:\n      power: 2.0\n") {
		t.Errorf("%+v, resolved\n%s", p.Rules[0], p.Resolved)
	}
	e, err := stattest.Law{
		Ingredients: 4, Total: 6, Size: func(n int) float64 { return 1 },
		Feasible:   func(x []int) bool { return x[0] > 0 == (x[1] > 0) },
		Objectives: []stattest.Objective{{Score: func(x []int) float64 { return evenness(x, 2) }, Weight: 0.5}},
	}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gibbs", "balanced"} {
		kernel, err := mcmc.NewKernel(name, p.Target)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Matrix(p.Target, kernel, stattest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.CheckInvariant(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	for _, c := range []struct{ rule, property, says string }{
		{"together: {all: Gin}", "even: {}", "together has no key \"all\": write of: together: {of: [Gin, Rum]}"},
		{"together: Gin", "even: {}", "write together: {of: [Gin, Rum]}"},
		{"together: {of: [Gin, Run]}", "even: {}", `did you mean "Rum"?`},
		{"togeter: {of: Gin}", "even: {}", `did you mean "together"?`},
		{"exclude: Gin", "even: {powr: 2}", `did you mean "power"?`},
		{"exclude: Gin", "evn: {}", `did you mean "even"?`},
	} {
		if _, err := loaded(c.rule, c.property); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %s ends with %v, not %q", c.rule, c.property, err, c.says)
		}
	}

	d := extended().configKinds().Description()
	for _, want := range []string{
		"| `together` | [together](#together) | all of them, or none | `together: {of: [Gin, Rum]}` |\n",
		"\n## together\n\nIngredients that come all or not at all.\n",
		"| `even` | [even](#even) |  | amounts alike | `even: {power: 2}` |\n",
		"\n## even\n",
	} {
		if !strings.Contains(string(reference(d)), want) {
			t.Errorf("the reference has no %q", want)
		}
	}
	text, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"together": {`, `"$ref": "#/$defs/together"`, `"even": {`, `"$ref": "#/$defs/even"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the JSON Schema has no %s", want)
		}
	}
	if _, err := load(t, "total: 6\ningredients: [Gin, Rum]\nsparsity: {uniform: [1, 2]}\nconstraints: [{together: {of: [Gin, Rum]}}]\n", Options{}); err == nil {
		t.Error("a kind that is not registered is read")
	}
	if slices.Contains(Schema().Rule().ExactlyOneOf, "together") {
		t.Error("a kind of a test is one of kir")
	}
}
