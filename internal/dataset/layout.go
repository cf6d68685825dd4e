package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A Layout says how to read a table. Where a field has its zero value, the reader guesses.
type Layout struct {
	// Sheet is the name of the sheet to read from a workbook.
	Sheet string

	// Encoding is the character encoding of a text file, by its name on the web: utf-8,
	// windows-1252, iso-8859-2, utf-16le. A byte-order mark in the file takes precedence.
	Encoding string

	// Delimiter is the name of the character that separates columns: comma, semicolon, tab or bar.
	Delimiter string

	// Decimal is the decimal mark of the numbers.
	Decimal measure.Decimal

	// Columns maps the names of columns of a table of recipes to their roles.
	Columns map[string]Role

	// Names maps spellings in a table of recipes to names of ingredients. To merge two spellings of
	// one ingredient, map one spelling to the other. To keep apart two ingredients that differ only
	// in case, map one of them to another name.
	Names map[string]string

	// Without lists the names of recipes that the reader leaves out.
	Without []string

	// Unknown lists texts that stand for a value which is not known, such as gelled in a column of
	// viscosities.
	Unknown []string

	// Including lists the names of recipes that the reader keeps although it would leave them out,
	// such as a row that is the sum of all others.
	Including []string
}

// A Role is the meaning of a column of a table of recipes.
type Role string

// The roles of columns. In the wide form every column of amounts has the role IngredientColumn. In
// the long form only the column of the names of the ingredients has this role.
const (
	RecipeColumn     Role = "recipe"
	IngredientColumn Role = "ingredient"
	AmountColumn     Role = "amount"
	UnitColumn       Role = "unit"
	LabelColumn      Role = "label"
	IgnoredColumn    Role = "ignore"
)

// Roles returns all roles, in a fixed order.
func Roles() []Role {
	return []Role{RecipeColumn, IngredientColumn, AmountColumn, UnitColumn, LabelColumn, IgnoredColumn}
}

// ParseRole returns the role with a given name. It returns an error that lists the roles if there
// is none.
func ParseRole(text string) (Role, error) {
	if r := Role(text); slices.Contains(Roles(), r) {
		return r, nil
	}
	var names []string
	for _, r := range Roles() {
		names = append(names, string(r))
	}
	return "", fmt.Errorf("a column cannot be %s: write one of %s", inputerr.Quote(text), strings.Join(names, ", "))
}

// YAML returns the layout as a YAML mapping without braces, such as decimal: comma, columns:
// {rating: label}. A problem file contains layouts in this form.
func (l Layout) YAML() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+YAMLText(value))
		}
	}
	add("sheet", l.Sheet)
	add("encoding", l.Encoding)
	add("delimiter", l.Delimiter)
	if l.Decimal != measure.AnyDecimal {
		add("decimal", l.Decimal.String())
	}
	if len(l.Columns) > 0 {
		var columns []string
		for _, name := range slices.Sorted(maps.Keys(l.Columns)) {
			columns = append(columns, YAMLText(name)+": "+string(l.Columns[name]))
		}
		parts = append(parts, "columns: {"+strings.Join(columns, ", ")+"}")
	}
	if len(l.Names) > 0 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(l.Names)) {
			names = append(names, YAMLText(name)+": "+YAMLText(l.Names[name]))
		}
		parts = append(parts, "names: {"+strings.Join(names, ", ")+"}")
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"without", l.Without}, {"including", l.Including}, {"unknown", l.Unknown}} {
		var names []string
		for _, name := range list.names {
			names = append(names, YAMLText(name))
		}
		if len(names) > 0 {
			parts = append(parts, list.key+": ["+strings.Join(names, ", ")+"]")
		}
	}
	return strings.Join(parts, ", ")
}

// YAMLText writes a text as a YAML scalar: plain if that is safe, otherwise in double quotes.
func YAMLText(text string) string {
	plain := text != "" && strings.Trim(text[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
	for _, r := range text {
		plain = plain && (r == ' ' || r == '-' || r == '_' || r == '.' || r == '/' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain && strings.TrimSpace(text) == text {
		return text
	}
	return strconv.Quote(text)
}

// TableYAML returns the line of a problem file that names a table and its layout under a key, such
// as recipes: {file: recipes.csv, decimal: comma}.
func TableYAML(key, file string, l Layout) string {
	how := l.YAML()
	if how == "" {
		return key + ": " + YAMLText(file)
	}
	return key + ": {file: " + YAMLText(file) + ", " + how + "}"
}

// setColumn sets the role of a column in l.Columns, and creates the map if it is nil.
func (l *Layout) setColumn(name string, role Role) {
	if l.Columns == nil {
		l.Columns = make(map[string]Role)
	}
	l.Columns[name] = role
}

// Merge returns a layout with the settings of l and of more. Where both set the same thing, more
// takes precedence. Merge does not change its arguments.
func (l Layout) Merge(more Layout) Layout {
	if more.Sheet != "" {
		l.Sheet = more.Sheet
	}
	if more.Encoding != "" {
		l.Encoding = more.Encoding
	}
	if more.Delimiter != "" {
		l.Delimiter = more.Delimiter
	}
	if more.Decimal != measure.AnyDecimal {
		l.Decimal = more.Decimal
	}
	if len(more.Columns) > 0 {
		columns := maps.Clone(l.Columns)
		if columns == nil {
			columns = make(map[string]Role)
		}
		maps.Copy(columns, more.Columns)
		l.Columns = columns
	}
	if len(more.Names) > 0 {
		names := maps.Clone(l.Names)
		if names == nil {
			names = make(map[string]string)
		}
		maps.Copy(names, more.Names)
		l.Names = names
	}
	for _, name := range more.Without {
		if !slices.Contains(l.Without, name) {
			l.Without = append(slices.Clip(l.Without), name)
		}
	}
	for _, text := range more.Unknown {
		if !slices.Contains(l.Unknown, text) {
			l.Unknown = append(slices.Clip(l.Unknown), text)
		}
	}
	for _, name := range more.Including {
		if !slices.Contains(l.Including, name) {
			l.Including = append(slices.Clip(l.Including), name)
		}
	}
	return l
}
