package drawfile

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Names of the columns that every file has.
const (
	chainColumn      = "chain"
	drawColumn       = "draw"
	densityColumn    = "log_density"
	usedColumn       = "used"
	ingredientColumn = "ingredient"
	amountColumn     = "amount"
)

// Reserved returns the names that a property must not have, since columns of
// their own have them.
func Reserved() []string {
	return []string{chainColumn, drawColumn, densityColumn, usedColumn, ingredientColumn, amountColumn}
}

// A Schema says what the draws of a file are made of.
type Schema struct {
	Chain       int32    // the chain that all draws are of
	Total       int      // what the amounts of a draw sum to
	Properties  []string // their names
	Ingredients []string // their names
}

// check says what is wrong with the schema.
func (s *Schema) check() error {
	seen := make(map[string]bool)
	for _, name := range s.Properties {
		if slices.Contains(Reserved(), name) {
			return fmt.Errorf("a property cannot be named %q: the file of draws has a column of that name", name)
		}
		if seen[name] {
			return fmt.Errorf("two properties are named %q", name)
		}
		seen[name] = true
	}
	return nil
}

// elements returns the schema as the format writes it: a tree, depth first.
func (s *Schema) elements() []format.SchemaElement {
	required := thrift.New(format.Required)
	elements := []format.SchemaElement{{
		Name:        "draws",
		NumChildren: thrift.New(int32(len(s.Properties) + 6)),
	}}
	scalar := func(name string, kind format.Type) {
		elements = append(elements, format.SchemaElement{Name: name, Type: thrift.New(kind), RepetitionType: required})
	}
	scalar(chainColumn, format.Int32)
	scalar(drawColumn, format.Int64)
	scalar(densityColumn, format.Double)
	scalar(usedColumn, format.Int32)
	for _, name := range s.Properties {
		scalar(name, format.Double)
	}
	// The three levels of a list are those of LogicalTypes.md.
	list := func(name string) {
		elements = append(elements, format.SchemaElement{
			Name:           name,
			RepetitionType: required,
			NumChildren:    thrift.New(int32(1)),
			ConvertedType:  thrift.New(deprecated.List),
			LogicalType:    format.LogicalType{Value: new(format.ListType)},
		}, format.SchemaElement{
			Name:           "list",
			RepetitionType: thrift.New(format.Repeated),
			NumChildren:    thrift.New(int32(1)),
		})
	}
	list(ingredientColumn)
	elements = append(elements, format.SchemaElement{
		Name:           "element",
		Type:           thrift.New(format.ByteArray),
		RepetitionType: required,
		ConvertedType:  thrift.New(deprecated.UTF8),
		LogicalType:    format.LogicalType{Value: new(format.StringType)},
	})
	list(amountColumn)
	scalar("element", format.Int32)
	return elements
}

// paths returns the path of each column.
func (s *Schema) paths() [][]string {
	paths := [][]string{{chainColumn}, {drawColumn}, {densityColumn}, {usedColumn}}
	for _, name := range s.Properties {
		paths = append(paths, []string{name})
	}
	return append(paths, []string{ingredientColumn, "list", "element"}, []string{amountColumn, "list", "element"})
}

// kind returns the physical type of the k-th column.
func (s *Schema) kind(k int) format.Type {
	switch k {
	case 0, 3, 5 + len(s.Properties):
		return format.Int32
	case 1:
		return format.Int64
	case 4 + len(s.Properties):
		return format.ByteArray
	}
	return format.Double
}
