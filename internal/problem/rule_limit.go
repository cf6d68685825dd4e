package problem

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/rule"
)

var limitKind = ruleKind{
	Key: newKey("limit", schema.Link("limit"), "", "a mean over the composition, or over some of it", "{limit: {attribute: abv, min: 10, max: 25}}"),
	Sections: schema.Sections{{
		Name: "limit", ID: "limit", About: "Bounds on Σ a_i·x_i / Σ x_i, over all ingredients or some; or on what a property predicts.",
		Keys: []schema.Key{
			newKey("attribute", schema.Text("attribute"), "", "a column of the ingredients, of numbers, or a constituent", "{attribute: cost, max: 20}"),
			newKey("of", schema.Ingredients(), "all", "the mean over these alone", "{attribute: cost, of: {family: spirit}, max: 15}"),
			newKey("property", schema.Text("property"), "", "one of the problem's properties: its value, its chance, or else its score", "{property: Fresh, min: \"20%\"}"),
			newKey("sure", schema.Either(schema.Percentage(), schema.Between(0, 1)), "", "the least probability with which a measurement lies within the bounds; without it the bounds hold for the predicted value", "{property: stars, min: 2, sure: \"10%\"}"),
			newKey("min", schema.Either(schema.Number(), schema.Percentage()), "none", "the least", "{attribute: abv, min: 10}"),
			newKey("max", schema.Either(schema.Number(), schema.Percentage()), "none", "the greatest", "{attribute: abv, max: 30}"),
		},
		ExactlyOneOf: []string{"attribute", "property"},
		AtLeastOneOf: []string{"min", "max"},
		Excludes:     map[string]string{"property": "of"},
		Requires:     map[string]string{"sure": "property"},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"required": []string{"property"}},
			{"properties": schema.Object{"min": schema.Object{"type": "number"}, "max": schema.Object{"type": "number"}}},
		}}},
		Mistakes: map[string]string{
			"exactly": "write min and max alike: limit: {attribute: abv, min: 20, max: 20}",
			"in":      "write of: limit: {attribute: cost, of: {phase: oil}, max: 12}",
			"file":    "a table of limits is limits: {file: limits.csv}",
		},
	}},
	read: readLimit,
	ruleFields: typedFields(func(l rule.Limit, _ func(int) string) []RuleField {
		return []RuleField{{"min", nilIf(l.Min, math.Inf(-1)), false}, {"max", nilIf(l.Max, math.Inf(1)), false}}
	}),
}

// readLimit reads bounds on the mean of an attribute, over the composition or over some ingredients, or on
// what a property predicts.
//
//	limit: {attribute: cost, of: {phase: oil}, max: 12}
func readLimit(_ context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error) {
	if f["property"] != nil {
		return predictedRule(s, n, f)
	}
	if v := f["sure"]; v != nil {
		return nil, yaml.Hint(v.Errorf("sure is of what a property predicts"), "remove it, or write property instead of attribute")
	}
	if f["attribute"] == nil {
		name := "abv"
		for _, v := range []*yaml.Node{f["min"], f["max"]} {
			if v != nil && isColumn(s, v) {
				name = v.Text
			}
		}
		return nil, yaml.Hint(n.Errorf("the limit names no attribute"), "write {attribute: %s, min: 10, max: 25}", name)
	}
	name, err := f["attribute"].Str("the attribute")
	if err != nil {
		return nil, err
	}
	values, err := s.attributeNumbers(f["attribute"], name)
	if err != nil {
		return nil, err
	}
	limit := rule.Limit{Attribute: name, Factors: values, Of: s.block.memberIndexes()}
	text := "limit of " + name
	if f["of"] != nil {
		var of string
		if limit.Of, of, err = s.ingredientsOf(f["of"]); err != nil {
			return nil, err
		}
		text += " in " + of
	}
	var words string
	if limit.Min, limit.Max, words, err = readNumberBounds(n, f, "the limit"); err != nil {
		return nil, err
	}
	return singleRule(text+words, limit), nil
}

// readNumberBounds reads min and max as numbers. At least one must be present.
func readNumberBounds(n *yaml.Node, f fields, what string) (lo, hi float64, words string, err error) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, b := range []struct {
		key   string
		value *float64
	}{{"min", &lo}, {"max", &hi}} {
		if v := f[b.key]; v != nil {
			if *b.value, err = v.Float(b.key); err != nil {
				return 0, 0, "", err
			}
			words += fmt.Sprintf(" %s %v", b.key, *b.value)
		}
	}
	if words == "" {
		return 0, 0, "", yaml.Hint(n.Errorf("%s bounds nothing", what), "add min or max")
	}
	if lo > hi {
		return 0, 0, "", yaml.Hint(n.Errorf("the rule contradicts itself: min is %v and max %v", lo, hi), "swap them")
	}
	return lo, hi, words, nil
}

// readCells reads columns of the table that a rule names: {file: limits.csv}.
func readCells(ctx context.Context, s *readContext, n *yaml.Node, kind string, required, any []string) (*dataset.Cells, error) {
	if n.Kind != yaml.Mapping {
		if n.Kind != yaml.Text {
			return nil, yaml.Hint(n.Errorf("%s are %s", kind, n.Describe()), "write {file: %s.csv}", kind)
		}
		return nil, yaml.Hint(n.Errorf("%s are %s", kind, n.Describe()), "write {file: %s}", n.Text)
	}
	file, layout, err := readTableNode(n, false)
	if err != nil {
		return nil, err
	}
	var cells *dataset.Cells
	err = s.files.Read(ctx, file, "the file of "+kind, func(r io.Reader, path string) (err error) {
		cells, err = dataset.ReadCells(r, path, layout, required, any)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.warnGuesses(kind, file.Text, layout, cells.Guessed, cells.Notes)
	return cells, nil
}

var limitsKind = ruleKind{
	Key:  newKey("limits", schema.Link("table"), "", "a limit from each row of a table: `attribute`, `min`, `max`", "{limits: {file: limits.csv}}"),
	read: readLimits,
}

// readLimits reads a limit from each row of a table with the columns attribute,
// min and max.
func readLimits(ctx context.Context, s *readContext, n *yaml.Node, _ fields) ([]Rule, error) {
	cells, err := readCells(ctx, s, n, "limits", []string{"attribute"}, []string{"min", "max"})
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, 0, len(cells.Text))
	for row, text := range cells.Text {
		place := &yaml.Node{File: cells.File, Line: cells.Line(row), Column: 1}
		name := text[0]
		if name == "" {
			return nil, cells.ErrorAt(row, 0, "the limit names no attribute", "name one, or remove the row")
		}
		values, err := s.attributeNumbers(place, name)
		if err != nil {
			return nil, err
		}
		limit := rule.Limit{Attribute: name, Factors: values, Of: s.block.memberIndexes(), Min: math.Inf(-1), Max: math.Inf(1)}
		words := ""
		for k, to := range []*float64{&limit.Min, &limit.Max} {
			v, ok, err := cells.Number(row, 1+k)
			if err != nil {
				return nil, err
			}
			if ok {
				*to = v
				words += fmt.Sprintf(" %s %v", []string{"min", "max"}[k], v)
			}
		}
		switch {
		case words == "":
			return nil, cells.ErrorAt(row, 1, "the limit of "+inputerr.Quote(name)+" bounds nothing", "write min or max, or remove the row")
		case limit.Min > limit.Max:
			return nil, cells.ErrorAt(row, 1, fmt.Sprintf("the limit contradicts itself: min is %v and max %v", limit.Min, limit.Max), "swap them")
		}
		r := singleRule(fmt.Sprintf("limit of %s%s (%s line %d)", name, words, filepath.Base(cells.File), place.Line), limit)[0]
		r.at = place
		rules = append(rules, r)
	}
	if len(rules) == 0 {
		return nil, yaml.Hint(n.Errorf("the file has no limits"), "add a row for each: attribute, min, max")
	}
	return rules, nil
}

var constituentsKind = ruleKind{
	Key: newKey("constituents", schema.Link("table"), "", "what ingredients consist of, `ingredient`, `constituent`, `share`: each constituent becomes an attribute; not within other rules", "{constituents: {file: constituents.csv}}"),
	read: func(_ context.Context, s *readContext, n *yaml.Node, _ fields) ([]Rule, error) { // readConstituents has read them
		if s.inRule {
			return nil, yaml.Hint(n.Errorf("constituents are no rule"), "write them in a line of their own under constraints")
		}
		return nil, nil
	},
}

// readConstituents reads the constituents of ingredients. Each constituent becomes an attribute that rules
// and properties can name: its share in an ingredient, 0 by default.
//
//	constituents: {file: constituents.csv}
//
// It is listed among the rules and read before them.
func readConstituents(ctx context.Context, s *readContext, items []*yaml.Node) error {
	for _, item := range items {
		n := item.Get("constituents")
		if n == nil || len(item.Entries) != 1 {
			continue
		}
		cells, err := readCells(ctx, s, n, "constituents", []string{"ingredient", "constituent", "share"}, nil)
		if err != nil {
			return err
		}
		if s.constituents == nil {
			s.constituents = make(map[string][]float64)
		}
		for row, text := range cells.Text {
			i := slices.Index(s.names, text[0])
			if i < 0 {
				return cells.ErrorAt(row, 0, "there is no ingredient "+inputerr.Quote(text[0]), inputerr.DidYouMean(text[0], s.names))
			}
			if text[1] == "" {
				return cells.ErrorAt(row, 1, "the constituent has no name", "name it, or remove the row")
			}
			if s.attributes != nil {
				if _, ok := s.attributes.Attribute(text[1]); ok {
					return cells.ErrorAt(row, 1, inputerr.Quote(text[1])+" is an attribute of the ingredients, too", "give one of the two another name")
				}
			}
			share, ok, err := cells.Number(row, 2)
			if err != nil {
				return err
			}
			if !ok || share < 0 {
				return cells.ErrorAt(row, 2, "the share of "+inputerr.Quote(text[1])+" in "+inputerr.Quote(text[0])+" is missing or below 0", "write a number of at least 0, in the unit of the limits")
			}
			values := s.constituents[text[1]]
			if values == nil {
				values = make([]float64, len(s.names))
				s.constituents[text[1]] = values
			}
			if values[i] != 0 {
				return cells.ErrorAt(row, 0, fmt.Sprintf("%s in %s is there twice", inputerr.Quote(text[1]), inputerr.Quote(text[0])), "remove one of the rows")
			}
			values[i] = share
		}
	}
	return nil
}
