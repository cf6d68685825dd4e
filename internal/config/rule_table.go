package config

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

// readRuleTable reads the table that a constraint names, such as {file: limits.csv}. The table must have all
// columns in required. If oneOf is not empty, the table must also have at least one of the columns in oneOf.
func (d *Data) readRuleTable(ctx context.Context, n *yaml.Node, kind string, required, oneOf []string) (*dataset.Cells, error) {
	if n.Kind != yaml.Mapping {
		if n.Kind != yaml.Text {
			return nil, yaml.Hint(n.Errorf("%s are %s", kind, n.Describe()), "write {file: %s.csv}", kind)
		}
		return nil, yaml.Hint(n.Errorf("%s are %s", kind, n.Describe()), "write {file: %s}", n.Text)
	}
	file, layout, err := ReadTableNode(n, false)
	if err != nil {
		return nil, err
	}
	var cells *dataset.Cells
	err = d.Files.Read(ctx, file, "the file of "+kind, func(r io.Reader, path string) (err error) {
		cells, err = dataset.ReadCells(r, path, layout, required, oneOf)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.WarnGuesses(kind, file.Text, layout, cells.GuessedLayout, cells.Notes)
	return cells, nil
}

// A tableValue is the value of a constraint that consists of a table.
type tableValue struct{ Table *yaml.Node }

func (*tableValue) Sections() schema.Sections { return nil }

func (r *tableValue) Decode(n *yaml.Node) error {
	r.Table = n
	return nil
}

// LimitsKind is the kind of constraint that reads limits of attributes from a table. Each row has one limit, in
// the columns attribute, min and max.
var LimitsKind = ConstraintKind{
	Key: schema.NewKey("limits", schema.Link("table"), "", "a table with a limit in each row: `attribute`, `min`, `max`", "{limits: {file: limits.csv}}"),
	New: func(*Kinds) Constraint { return new(limitsTable) },
}

type limitsTable struct{ tableValue }

func (r *limitsTable) Compile(ctx context.Context, d *Data) ([]Demand, error) {
	cells, err := d.readRuleTable(ctx, r.Table, "limits", []string{"attribute"}, []string{"min", "max"})
	if err != nil {
		return nil, err
	}
	rules := make([]Demand, 0, len(cells.Text))
	for row, text := range cells.Text {
		place := &yaml.Node{File: cells.File, Line: cells.Line(row), Column: 1}
		name := text[0]
		if name == "" {
			return nil, cells.ErrorAt(row, 0, "the limit names no attribute", "name one, or remove the row")
		}
		values, err := d.AttributeNumbers(place, name)
		if err != nil {
			return nil, err
		}
		limit := rule.Limit{Attribute: name, Factors: values, Of: d.Block.Indexes(), Min: math.Inf(-1), Max: math.Inf(1)}
		var bounds [2]string
		for k, to := range []*float64{&limit.Min, &limit.Max} {
			v, ok, err := cells.Number(row, 1+k)
			if err != nil {
				return nil, err
			}
			if ok {
				*to = v
				bounds[k] = fmt.Sprint(v)
			}
		}
		switch {
		case bounds == [2]string{}:
			return nil, cells.ErrorAt(row, 1, "the limit of "+inputerr.Quote(name)+" bounds nothing", "write min or max, or remove the row")
		case limit.Min > limit.Max:
			return nil, cells.ErrorAt(row, 1, fmt.Sprintf("the limit contradicts itself: min is %v and max %v", limit.Min, limit.Max), "swap them")
		}
		one := singleRuleDemand(fmt.Sprintf("%s: %s (%s line %d)", name, boundsText(bounds[0], bounds[1], ""), filepath.Base(cells.File), place.Line), limit)[0]
		one.Node = place
		rules = append(rules, one)
	}
	if len(rules) == 0 {
		return nil, yaml.Hint(r.Table.Errorf("the file has no limits"), "add a row for each: attribute, min, max")
	}
	return rules, nil
}

// ConstituentsKind is the kind of constraint that names a table of the constituents of ingredients.
var ConstituentsKind = ConstraintKind{
	Key: schema.NewKey("constituents", schema.Link("table"), "", "a table of what ingredients consist of: `ingredient`, `constituent`, `share`. Each constituent becomes an attribute. `constituents` is not allowed within other rules", "{constituents: {file: constituents.csv}}"),
	New: func(*Kinds) Constraint { return new(constituentsTable) },
}

// A constituentsTable is a constraint that demands nothing of compositions. [Data.ReadConstituents] reads its
// table before constraints are compiled.
type constituentsTable struct{ tableValue }

func (r *constituentsTable) Compile(_ context.Context, d *Data) ([]Demand, error) {
	if d.InNestedRules {
		return nil, yaml.Hint(r.Table.Errorf("constituents are no rule"), "write them in a line of their own under constraints")
	}
	return nil, nil
}

// ReadConstituents reads the constituents of the ingredients from the tables that constraints name:
//
//	constituents: {file: constituents.csv}
//
// Each constituent becomes an attribute that rules and properties can name. The attribute is the share of the
// constituent in each ingredient; a missing share is 0. ReadConstituents must run before the constraints are
// compiled.
func (d *Data) ReadConstituents(ctx context.Context, items []*Entry[Item]) error {
	for _, item := range items {
		c, ok := item.Value.Value.(*constituentsTable)
		if !ok {
			continue
		}
		cells, err := d.readRuleTable(ctx, c.Table, "constituents", []string{"ingredient", "constituent", "share"}, nil)
		if err != nil {
			return err
		}
		if d.Constituents == nil {
			d.Constituents = make(map[string][]float64)
		}
		for row, text := range cells.Text {
			i := slices.Index(d.IngredientNames, text[0])
			if i < 0 {
				return cells.ErrorAt(row, 0, "there is no ingredient "+inputerr.Quote(text[0]), inputerr.DidYouMean(text[0], d.IngredientNames))
			}
			if text[1] == "" {
				return cells.ErrorAt(row, 1, "the constituent has no name", "name it, or remove the row")
			}
			if d.Attributes != nil {
				if _, ok := d.Attributes.Attribute(text[1]); ok {
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
			values := d.Constituents[text[1]]
			if values == nil {
				values = make([]float64, len(d.IngredientNames))
				d.Constituents[text[1]] = values
			}
			if values[i] != 0 {
				return cells.ErrorAt(row, 0, fmt.Sprintf("%s in %s is there twice", inputerr.Quote(text[1]), inputerr.Quote(text[0])), "remove one of the rows")
			}
			values[i] = share
		}
	}
	return nil
}
