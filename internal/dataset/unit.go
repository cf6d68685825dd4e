package dataset

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// A Kind is the quantity that a unit measures. Amounts of one kind can be added up.
type Kind int

// The kinds of units, with their base units.
const (
	Plain         Kind = iota // a number without a unit
	Volume                    // centilitre
	Mass                      // gram
	Percent                   // percent
	Share                     // part
	Count                     // piece
	Concentration             // gram per litre, as kilogram per cubic metre
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
	case Concentration:
		return "a mass in a volume"
	default:
		return "a plain number"
	}
}

// A Unit is the unit of an amount.
type Unit struct {
	// Name is the unit's first name: "dash" for "Dashes", too.
	Name string
	Kind Kind
	// Size is the unit in the kind's base unit, above 0.
	Size Amount

	// inMass is the same unit as a mass, for small units that nobody measures, such as a pinch; nil
	// for all others. [DefaultUnits] says when it is used.
	inMass *Unit
}

// Units is the set of units that a book may use. It does not change: [Units.With] returns another
// set.
type Units struct {
	names     []string // first names, in the order of definition
	byName    map[string]*Unit
	hideHints bool // errors about unknown units get no hint
}

// withoutHints returns the units for callers that only test whether a text is an amount. Finding
// similar names as hints takes long.
func (u *Units) withoutHints() *Units {
	return &Units{names: u.names, byName: u.byName, hideHints: true}
}

// With returns the units with one more, or with another size for a known one, under all its names.
// The size is a number and a known unit with a space between them, "0.09 cl", "50 g", or a number
// alone, which is in cl, or in g if the unit is already known as a mass. With("g", "0.1 cl") thus
// allows volume and mass to be mixed in a recipe. A metric volume in g, or a metric mass in cl,
// sets a density: all other metric units of its kind follow it.
func (u *Units) With(name, size string) (*Units, error) {
	key := unitKey(name)
	if key == "" {
		return nil, fmt.Errorf("a unit without a name: call it, for example, \"jigger\"")
	}
	wrong := func(message, hint string) (*Units, error) {
		return nil, fmt.Errorf("size %s of unit %s: %s: %s", inputerr.Quote(size), inputerr.Quote(name), message, hint)
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
			return wrong(u.unknownUnit(strings.Join(fields[1:], " ")))
		}
		unit.Kind = in.Kind
		var hint string
		if unit.Size, message, hint = number.times(in.Size); message != "" {
			return wrong(message, hint)
		}
	}
	with := &Units{names: slices.Clone(u.names), byName: maps.Clone(u.byName)}
	if known {
		now := map[*Unit]*Unit{old: &unit}
		dense := slices.Contains(metric, old.Name) && (old.Kind == Mass && unit.Kind == Volume || old.Kind == Volume && unit.Kind == Mass)
		for _, alias := range slices.Sorted(maps.Keys(u.byName)) { // in order, because the message names the first
			other := u.byName[alias]
			if dense && now[other] == nil && other.Kind == old.Kind {
				ratio := new(big.Rat).Mul(other.Size.Rat(), new(big.Rat).Quo(unit.Size.Rat(), old.Size.Rat()))
				follows, err := nearestAmount(ratio)
				if err != nil || follows.IsZero() {
					return wrong("with it "+inputerr.Quote(other.Name)+" is out of range", "write the density of water, such as \"0.1 cl\" for g")
				}
				now[other] = &Unit{Name: other.Name, Kind: unit.Kind, Size: follows}
			}
			if now[other] != nil {
				with.byName[alias] = now[other]
			}
		}
	} else {
		with.names = append(with.names, key)
		with.byName[key] = &unit
	}
	return with, nil
}

// metric are the units with fixed ratios to each other.
var metric = []string{"ml", "cl", "dl", "l", "mg", "g", "kg"}

// Lookup returns the unit of that name. It ignores case, points, surrounding space and a plural s
// or es.
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

// Names returns the first names of the units of some kinds, in the order of definition.
func (u *Units) Names(kinds ...Kind) (names []string) {
	for _, name := range u.names {
		if slices.Contains(kinds, u.byName[name].Kind) {
			names = append(names, name)
		}
	}
	return names
}

// unknownUnit returns a message that there is no such unit, and a hint that lists the known ones.
func (u *Units) unknownUnit(name string) (message, hint string) {
	if u.hideHints {
		return "unknown unit", ""
	}
	if isFilling(name) {
		return "unit " + inputerr.Quote(name) + " has no size", sizeHint(name)
	}
	all := slices.Sorted(maps.Keys(u.byName))
	hint = "known are " + inputerr.List(u.names, len(u.names))
	if mean := inputerr.DidYouMean(unitKey(name), all); mean != "" {
		hint = mean + " " + strings.ToUpper(hint[:1]) + hint[1:]
	} else {
		hint += "; or say how much it is: units: {" + YAMLText(NormalizeName(name)) + ": 9 cl}"
	}
	return "unknown unit " + inputerr.Quote(name), hint
}

// unitKey returns the form in which a unit's name is looked up.
func unitKey(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(NormalizeName(name), ".", " "))), " ")
}

// A LooseUse is a unit without a standard size, and the number of recipes of a book that use it.
type LooseUse struct {
	Name    string
	Recipes int
	Sizes   []string // half its size, its own and twice that, in ml
}

// LooseUnits returns the book's units without a standard size, the most used first.
func (b *Book) LooseUnits() []LooseUse {
	usual := DefaultUnits()
	counts := make(map[*Unit]int)
	var units []*Unit
	for i := range b.Recipes {
		seen := make(map[*Unit]bool)
		for _, p := range b.Recipes[i].Parts {
			if p.Unit == nil {
				continue
			}
			u, ok := usual.Lookup(p.Unit.Name)
			if !ok || u.inMass == nil || seen[u] {
				continue
			}
			if seen[u] = true; counts[u] == 0 {
				units = append(units, u)
			}
			counts[u]++
		}
	}
	slices.SortStableFunc(units, func(a, b *Unit) int { return counts[b] - counts[a] })
	var all []LooseUse
	for _, u := range units {
		size, _ := u.Size.Rat().Float64()
		use := LooseUse{Name: u.Name, Recipes: counts[u]}
		for _, times := range []float64{5, 10, 20} { // cl to ml
			use.Sizes = append(use.Sizes, strconv.FormatFloat(float64(size*times), 'g', 3, 64)+" ml")
		}
		all = append(all, use)
	}
	return all
}
