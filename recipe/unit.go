package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kir/fault"
)

// A Kind is what a unit measures. Amounts of one kind can be added up.
type Kind int

// The kinds of units, with their base units.
const (
	Plain   Kind = iota // a number without a unit
	Volume              // centilitre
	Mass                // gram
	Percent             // percent
	Share               // part
	Count               // piece
)

// String returns the kind in words.
func (k Kind) String() string {
	switch k {
	case Volume:
		return "a volume"
	case Mass:
		return "a mass"
	case Percent:
		return "a percentage"
	case Share:
		return "a share"
	case Count:
		return "a number of pieces"
	default:
		return "a plain number"
	}
}

// A Unit is what an amount counts.
type Unit struct {
	// Name is the unit's first name: "dash" for "Dashes" too.
	Name string
	Kind Kind
	// Size is how many of the kind's base unit it is, above 0.
	Size Amount
}

// Units are the units that a book may use. They do not change: [Units.With]
// returns another set.
type Units struct {
	names  []string // first names, in the order of definition
	byName map[string]*Unit
}

// DefaultUnits returns
//
//	volumes, in cl   ml 0.1, cl 1, dl 10, l 100, oz 2.95735295625 (the US fluid
//	                 ounce), tbsp 1.5, tsp 0.5, bar spoon 0.5, dash 0.09,
//	                 splash 0.25, drop 0.005, whole 5 (an egg)
//	masses, in g     mg 0.001, g 1, kg 1000, lb 453.59237
//	others           % (percent), part, piece
//
// and their usual names: litre, liter, fl oz, fluid ounce, tablespoon, table
// spoon, teaspoon, tea spoon, barspoon, gram, kilo, pound, percent, each. Nobody
// has fixed the size of a spoon, a dash, a splash, a drop or an egg; a dash is
// close to 1/32, a splash to 1/12 and a drop to 1/576 US fluid ounce. Give other
// sizes with [Units.With].
func DefaultUnits() *Units {
	u := &Units{byName: make(map[string]*Unit)}
	for _, d := range []struct {
		kind Kind
		size string
		name string
		also []string
	}{
		{Volume, "0.1", "ml", []string{"milliliter", "millilitre"}},
		{Volume, "1", "cl", []string{"centiliter", "centilitre"}},
		{Volume, "10", "dl", []string{"deciliter", "decilitre"}},
		{Volume, "100", "l", []string{"liter", "litre"}},
		{Volume, "2.95735295625", "oz", []string{"ounce", "fl oz", "fluid ounce"}},
		{Volume, "1.5", "tbsp", []string{"tablespoon", "table spoon"}},
		{Volume, "0.5", "tsp", []string{"teaspoon", "tea spoon"}},
		{Volume, "0.5", "bar spoon", []string{"barspoon", "bsp"}},
		{Volume, "0.09", "dash", nil},
		{Volume, "0.25", "splash", nil},
		{Volume, "0.005", "drop", nil},
		{Volume, "5", "whole", nil},
		{Mass, "0.001", "mg", []string{"milligram"}},
		{Mass, "1", "g", []string{"gram", "gramme"}},
		{Mass, "1000", "kg", []string{"kilo", "kilogram", "kilogramme"}},
		{Mass, "453.59237", "lb", []string{"pound"}},
		{Percent, "1", "%", []string{"percent"}},
		{Share, "1", "part", nil},
		{Count, "1", "piece", []string{"pc", "each"}},
	} {
		size, _, _ := parseAmount(d.size)
		unit := &Unit{Name: d.name, Kind: d.kind, Size: size}
		u.names = append(u.names, d.name)
		u.byName[d.name] = unit
		for _, name := range d.also {
			u.byName[name] = unit
		}
	}
	return u
}

// With returns the units with one more, or with another size for one that is
// there, under all its names. The size is a number and a known unit with a space
// between them, "0.09 cl", "50 g", or a number alone, which is in cl, or in g if
// the unit is already known as a mass. It is how volume and mass can be mixed in
// a recipe: With("g", "0.1 cl").
func (u *Units) With(name, size string) (*Units, error) {
	key := unitKey(name)
	if key == "" {
		return nil, fmt.Errorf("a unit without a name: call it, for example, \"jigger\"")
	}
	wrong := func(message, hint string) (*Units, error) {
		return nil, fmt.Errorf("size %s of unit %s: %s: %s", fault.Quote(size), fault.Quote(name), message, hint)
	}
	fields := strings.Fields(size)
	if len(fields) == 0 {
		return wrong("no number", "write a number and a unit, such as \"0.09 cl\"")
	}
	number, message, _ := parseAmount(fields[0])
	if message != "" {
		return wrong(message, "write a number and a unit, such as \"0.09 cl\"")
	}
	if number.IsZero() {
		return wrong("no size", "write a number above 0")
	}
	old, known := u.Lookup(name)
	unit := Unit{Name: key, Kind: Volume, Size: number}
	if known {
		unit.Name, unit.Kind = old.Name, old.Kind
		if len(fields) == 1 && old.Kind != Volume && old.Kind != Mass {
			return wrong("a number of what?", "write a number and a unit, such as \""+fields[0]+" cl\"")
		}
	}
	if len(fields) > 1 {
		in, ok := u.Lookup(strings.Join(fields[1:], " "))
		if !ok {
			return wrong(u.unknown(strings.Join(fields[1:], " ")))
		}
		unit.Kind = in.Kind
		var hint string
		if unit.Size, message, hint = number.times(in.Size); message != "" {
			return wrong(message, hint)
		}
	}
	with := &Units{names: slices.Clone(u.names), byName: maps.Clone(u.byName)}
	if known {
		for alias, other := range u.byName {
			if other == old {
				with.byName[alias] = &unit
			}
		}
	} else {
		with.names = append(with.names, key)
		with.byName[key] = &unit
	}
	return with, nil
}

// Lookup returns the unit of that name. Case, points and spaces around do not
// matter, nor does a plural s or es.
func (u *Units) Lookup(name string) (*Unit, bool) {
	key := unitKey(name)
	for _, ending := range []string{"", "s", "es"} {
		if stem, ok := strings.CutSuffix(key, ending); ok {
			if unit, ok := u.byName[stem]; ok {
				return unit, true
			}
		}
	}
	return nil, false
}

// Names returns the first names of the units in the order of their definition.
func (u *Units) Names() []string { return slices.Clone(u.names) }

// unknown says that there is no such unit, and which there are.
func (u *Units) unknown(name string) (message, hint string) {
	all := slices.Sorted(maps.Keys(u.byName))
	hint = "known are " + fault.List(u.names, len(u.names))
	if mean := fault.DidYouMean(unitKey(name), all); mean != "" {
		hint = mean + " " + strings.ToUpper(hint[:1]) + hint[1:]
	}
	return "unknown unit " + fault.Quote(name), hint
}

// unitKey is the form under which a unit's name is looked up.
func unitKey(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(Name(name), ".", " "))), " ")
}
