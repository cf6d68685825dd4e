package measure

import "sync"

// DefaultUnits returns the units
//
//	volumes, in cl   ml 0.1, cl 1, dl 10, l 100, oz 2.95735295625 (the US fluid
//	                 ounce), pint 47.3176473, quart 94.6352946, cup 24, tbsp 1.5,
//	                 tsp 0.5, bar spoon 0.5, shot and jigger
//	                 4.436029434375 (1 1/2 oz), pony 2.95735295625 (1 oz)
//	small, in cl     dash 0.09, splash 0.25, drop 0.005, pinch 0.03, smidgen
//	                 0.015, leaf 0.05, sprig 0.1, wedge 0.7, slice 0.7, clove 0.3,
//	                 cube 0.23, twist 0.1, to taste 0.03, whole 5 (an egg)
//	masses, in g     mg 0.001, g 1, kg 1000, lb 453.59237, oz wt 28.349523125
//	percentages      % 1, g/kg 0.1, ppm 0.0001, ppb 0.0000001
//	concentrations,  g/l 1, mg/l 0.001, µg/l 0.000001, g/ml 1000, g/100 ml 10,
//	in g/l           lb/yd3 0.5932764211, lb/gal 119.8264273, oz/gal 7.489151707
//	others           part, piece
//
// and their usual names in English and some in German, French and Spanish. The
// text docs/tables.md lists all names and the sources of the sizes. The small
// units have no standard size. In a recipe whose other units are masses, a small
// unit becomes a mass, at 1 g/ml, and a note says so. [Units.With] sets another
// size.
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
		{Volume, "100", "l", []string{"liter", "litre", "ltr"}},
		{Volume, "2.95735295625", "oz", []string{"ounce", "fl oz", "fluid ounce", "floz"}},
		{Volume, "47.3176473", "pint", []string{"pt"}},
		{Volume, "94.6352946", "quart", []string{"qt"}},
		{Volume, "24", "cup", nil},
		{Volume, "1.5", "tbsp", []string{"tablespoon", "table spoon", "tbs", "tbl", "el", "esslöffel", "cuillère à soupe", "cuillères à soupe", "c à s", "cucharada"}},
		{Volume, "0.5", "tsp", []string{"teaspoon", "tea spoon", "tl", "teelöffel", "cuillère à café", "cuillères à café", "c à c", "cucharadita"}},
		{Volume, "0.5", "bar spoon", []string{"barspoon", "bsp", "barlöffel", "cuch. bar", "cucharada de bar", "cucharadita de bar", "cuillère de bar", "c. bar", "colher de bar", "cucchiaino da bar", "barlepel", "łyżka barowa", "barsked"}},
		{Volume, "4.436029434375", "shot", nil},
		{Volume, "4.436029434375", "jigger", nil},
		{Volume, "2.95735295625", "pony", []string{"ponies"}},
		{Mass, "0.001", "mg", []string{"milligram"}},
		{Mass, "1", "g", []string{"gram", "gramme", "gr", "gramm"}},
		{Mass, "1000", "kg", []string{"kilo", "kilogram", "kilogramme", "kilogramm"}},
		{Mass, "453.59237", "lb", []string{"pound"}},
		{Mass, "28.349523125", "oz wt", []string{"wt oz", "weight ounce", "ounce weight"}},
		{Percent, "1", "%", []string{"percent", "prozent", "per cent", "pct", "wt%", "wt %", "vikt-%", "vikt%", "wag.%", "% wag.", "% mas.", "% peso", "% en peso", "% in peso", "peso %", "% massique", "% pds", "m-%", "m%", "wt.%", "wt.-%", "gew.-%", "gew%", "gew.%", "ma.-%", "masse-%", "% m/m", "% p/p", "% (w/w)", "w-%", "% w/w", "w/w %", "g/100 g", "g/100g", "g per 100 g"}},
		{Percent, "0.1", "g/kg", []string{"mg/g", "kg/t", "‰", "permille"}},
		{Percent, "0.0001", "ppm", []string{"mg/kg", "µg/g", "μg/g", "g/t"}},
		{Percent, "0.0000001", "ppb", []string{"µg/kg", "μg/kg"}},
		{Concentration, "1", "g/l", []string{"kg/m3", "kg/m³", "kg/m^3", "mg/ml", "g/dm3", "g/dm³"}},
		{Concentration, "0.001", "mg/l", []string{"g/m3", "g/m³", "µg/ml", "μg/ml"}},
		{Concentration, "0.000001", "µg/l", []string{"μg/l", "mg/m3", "mg/m³"}},
		{Concentration, "1000", "g/ml", []string{"kg/l", "g/cm3", "g/cm³", "t/m3", "t/m³"}},
		{Concentration, "10", "g/100 ml", []string{"g/100ml", "g/dl", "% w/v", "w/v %"}},
		{Concentration, "0.5932764211", "lb/yd3", []string{"lb/yd³", "pcy", "lb/cy"}},
		{Concentration, "119.8264273", "lb/gal", nil},
		{Concentration, "7.489151707", "oz/gal", nil},
		{MolePercent, "1", "mol%", []string{"mol %", "mole %", "at%", "at %", "at.%", "atom%"}},
		{VolumePercent, "1", "vol%", []string{"vol %", "vol.%", "vol.-%", "vol-%", "obj.%", "% obj.", "volym-%", "% v/v", "v/v %"}},
		{PartCount, "1", "part", []string{"teil", "teile", "parte", "phr", "pphr", "php"}},
		{PieceCount, "1", "piece", []string{"pc", "each", "stück", "pcs", "ea", "pièce"}},
	} {
		u.define(d.name, d.kind, d.size, d.also)
	}
	for _, d := range []struct {
		size string // in cl
		mass string // in g, at 1 g/ml
		name string
		also []string
	}{
		{"0.09", "0.9", "dash", []string{"spritzer", "trait"}},
		{"0.25", "2.5", "splash", []string{"schuss"}},
		{"0.005", "0.05", "drop", []string{"tropfen", "goutte", "gota"}},
		{"0.03", "0.3", "pinch", []string{"prise", "prisen", "pincée", "pizca"}},
		{"0.015", "0.15", "smidgen", nil},
		{"0.05", "0.5", "leaf", []string{"leaves", "blatt", "blätter", "feuille", "hoja"}},
		{"0.1", "1", "sprig", []string{"zweig", "zweige", "brin"}},
		{"0.7", "7", "wedge", []string{"spalte", "spalten", "quartier"}},
		{"0.7", "7", "slice", []string{"scheibe", "scheiben", "tranche", "rondelle", "rodaja"}},
		{"0.3", "3", "clove", []string{"zehe", "zehen", "gousse", "diente"}},
		{"0.23", "2.3", "cube", []string{"sugar cube", "würfel"}},
		{"0.1", "1", "twist", []string{"peel", "zeste"}},
		{"0.03", "0.3", "to taste", []string{"as needed", "nach geschmack", "nach belieben", "n b", "au goût", "al gusto", "q b"}},
		{"5", "50", "whole", nil},
		{"9", "90", "top", []string{"top up"}},
	} {
		unit := u.define(d.name, Volume, d.size, d.also)
		mass := MustAmount(d.mass)
		unit.AsMass = &Unit{Name: d.name, Kind: Mass, Size: mass}
	}
	return u
}

// UsualUnits returns the units of DefaultUnits, which must not be changed.
var UsualUnits = sync.OnceValue(DefaultUnits)

// define adds a unit with its first name and its other names, and returns the unit. size is the
// size in the base unit of the kind.
func (u *Units) define(name string, kind Kind, size string, also []string) *Unit {
	unit := &Unit{Name: name, Kind: kind, Size: MustAmount(size)}
	u.mainNames = append(u.mainNames, name)
	u.byName[name] = unit
	for _, name := range also {
		u.byName[unitKey(name)] = unit
	}
	return unit
}
