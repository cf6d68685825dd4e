package measure

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kir/internal/inputerr"
)

// A Kind is the physical quantity that a unit measures, such as volume. Only amounts of the same
// kind can be added up.
type Kind int

// The kinds of units, each with its base unit. The size of a unit is a multiple of the base unit.
const (
	Unitless      Kind = iota // a number without a unit
	Volume                    // the base unit is the centilitre
	Mass                      // the base unit is the gram
	Percent                   // the base unit is one percent
	PartCount                 // a number of parts; the base unit is one part
	PieceCount                // a number of pieces; the base unit is one piece
	Concentration             // a mass per volume; the base unit is one gram per litre
	MolePercent               // a percentage of the amount of substance; the base unit is one percent
	VolumePercent             // a percentage of the volume; the base unit is one percent

	KindCount // number of kinds
)

// String returns a phrase that describes the kind, such as "a volume".
func (k Kind) String() string {
	switch k {
	case Volume:
		return "a volume"
	case Mass:
		return "a mass"
	case Percent:
		return "a percentage"
	case PartCount:
		return "a share"
	case PieceCount:
		return "a number of pieces"
	case Concentration:
		return "a mass in a volume"
	case MolePercent:
		return "a percentage of the amount of substance"
	case VolumePercent:
		return "a percentage of the volume"
	default:
		return "a plain number"
	}
}

// IsPercent reports whether amounts of the kind are percentages.
func (k Kind) IsPercent() bool { return k == Percent || k == MolePercent || k == VolumePercent }

// A Unit is a unit of amounts.
type Unit struct {
	// Name is the main name of the unit. The unit that a table calls "Dashes" has the name "dash".
	Name string
	Kind Kind
	// Size is the size of one such unit in the base unit of Kind, above 0.
	Size Amount

	// AsMass is the unit of mass that replaces a small volume without a standard size, such as a
	// pinch, in recipes of masses; see [DefaultUnits]. It is nil for all other units.
	AsMass *Unit
}

// PlainName returns the name of a unit that people know of the kind of u: cl, g, or else that of u.
func (u *Unit) PlainName() string {
	switch u.Kind {
	case Volume:
		return "cl"
	case Mass:
		return "g"
	}
	return u.Name
}

// Units is a set of units that a book may use. A set does not change. [Units.With] returns a new
// set.
type Units struct {
	mainNames []string         // main names of the units, in the order of definition
	byName    map[string]*Unit // by each name in the form of unitKey: the unit
	hideHints bool             // whether errors about unknown units have no hint
}

// WithoutHints returns the same units for callers that only test whether a text is an amount. It
// avoids the search for similar names, which takes long.
func (u *Units) WithoutHints() *Units {
	return &Units{mainNames: u.mainNames, byName: u.byName, hideHints: true}
}

// With returns the units with one more unit, or with another size of a known unit under all its
// names. The size is a number and a known unit with a space between them, such as "0.09 cl" or "50
// g". A number alone is in cl, or in g if the unit is already a mass.
//
// With("g", "0.1 cl") makes grams volumes, so that a recipe may mix volumes and masses. A metric
// volume in g, or a metric mass in cl, thus sets a density, with which all other metric units of
// the kind are converted, too. A small unit of another volume, such as a dash of 1 ml, is 1 g for each
// ml among masses, as [DefaultUnits] describes.
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
			return wrong(u.DescribeUnknownUnit(strings.Join(fields[1:], " ")))
		}
		unit.Kind = in.Kind
		var hint string
		if unit.Size, message, hint = number.multiply(in.Size); message != "" {
			return wrong(message, hint)
		}
	}
	if known && old.AsMass != nil && unit.Kind == Volume {
		// A dash of another size is still a mass, at 1 g/ml, among masses.
		if mass, message, _ := unit.Size.multiply(MustAmount("10")); message == "" {
			unit.AsMass = &Unit{Name: unit.Name, Kind: Mass, Size: mass}
		}
	}
	with := &Units{mainNames: slices.Clone(u.mainNames), byName: maps.Clone(u.byName)}
	if known {
		now := map[*Unit]*Unit{old: &unit}
		dense := slices.Contains(metricUnitNames, old.Name) && (old.Kind == Mass && unit.Kind == Volume || old.Kind == Volume && unit.Kind == Mass)
		for _, alias := range slices.Sorted(maps.Keys(u.byName)) { // in order, because the message names the first
			other := u.byName[alias]
			if dense && now[other] == nil && other.Kind == old.Kind {
				ratio := new(big.Rat).Mul(other.Size.Rat(), new(big.Rat).Quo(unit.Size.Rat(), old.Size.Rat()))
				follows, err := NearestAmount(ratio)
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
		with.mainNames = append(with.mainNames, key)
		with.byName[key] = &unit
	}
	return with, nil
}

// metricUnitNames are the names of the metric units of volume and mass. When [Units.With] sets a
// density, it converts all metric units of a kind.
var metricUnitNames = []string{"ml", "cl", "dl", "l", "mg", "g", "kg"}

// Lookup returns the unit with a name. It ignores case, points, surrounding space and a plural s or
// es. ok is false if there is no such unit.
func (u *Units) Lookup(name string) (unit *Unit, ok bool) {
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

// Names returns the main names of the units of the given kinds, or of all units, in the order of definition.
func (u *Units) Names(kinds ...Kind) (names []string) {
	for _, name := range u.mainNames {
		if len(kinds) == 0 || slices.Contains(kinds, u.byName[name].Kind) {
			names = append(names, name)
		}
	}
	return names
}

// DescribeUnknownUnit returns the message that there is no unit with a name, and a hint that lists
// the known units.
func (u *Units) DescribeUnknownUnit(name string) (message, hint string) {
	if u.hideHints {
		return "unknown unit", ""
	}
	if MeansFillUp(name) {
		return "unit " + inputerr.Quote(name) + " has no size", unitSizeHint
	}
	hint = "known are " + inputerr.List(u.mainNames, maxListedUnits)
	if mean := u.Resembled(name); mean != "" {
		hint = mean + " " + strings.ToUpper(hint[:1]) + hint[1:]
	} else {
		hint += ", or give it a size"
	}
	return "unknown unit " + inputerr.Quote(name), hint
}

// Resembled returns the question whether a known unit is meant by the name of an unknown one, or "".
func (u *Units) Resembled(name string) string {
	return inputerr.DidYouMean(unitKey(name), slices.Sorted(maps.Keys(u.byName)))
}

// maxListedUnits is the number of units that the message about an unknown one lists.
const maxListedUnits = 12

// unitKey returns the key of the name of a unit: in lower case, without points, and with single
// spaces.
func unitKey(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(norm.NFC.String(name), ".", " "))), " ")
}
