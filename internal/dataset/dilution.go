package dataset

import (
	"math/big"
	"strings"

	"kir/internal/measure"
)

// A Dilution is an ingredient whose name says that it is a substance in a solvent, such as
// Ambroxan 10 % in DPG.
type Dilution struct {
	Ingredient string         // name of the ingredient
	Substance  string         // Ambroxan
	Solvent    string         // DPG
	Share      measure.Amount // share of the substance, above 0 and below 1: 0.1
}

// SolventShare returns the share of the solvent: 1 minus that of the substance.
func (d Dilution) SolventShare() measure.Amount {
	rest, err := measure.NearestAmount(new(big.Rat).Sub(big.NewRat(1, 1), d.Share.Rat()))
	if err != nil {
		panic(err) // a share has few decimals
	}
	return rest
}

// Dilutions returns the ingredients of the book whose names are those of dilutions, in the order of
// the ingredients. A name that may as well say what an ingredient contains, such as Rum 40 %
// alcohol, counts only beside one that does not.
func (b *Book) Dilutions() (all []Dilution) {
	certain := false
	for _, name := range b.Ingredients.Names {
		if d, contains, ok := parseDilution(name); ok {
			all = append(all, d)
			certain = certain || !contains
		}
	}
	if !certain {
		return nil
	}
	return all
}

// dilutionPattern matches a substance, a percentage behind a space, a bracket, @ or a word for at, a word for in,
// and a solvent. Only the solvent tells a dilution if there is no word for in.
var dilutionPattern = lazyPattern(`(?i)^(.*?)` +
	`(?:\s*([(\[])\s*|[,;:]\s+|\s+(?:(?:[-–—]|à|at|al|zu)\s+)?|\s*@)@?\s*` +
	`(\d{1,2}(?:[.,]\d{1,6})?)\s*(?:%|％|percent|per cent|pct\.?|prozent|pour cent|por ciento|per cento)\s*` +
	`(?:(?:w/w|w/v|v/v|m/m|wt\.?|vol\.?|sol\.?|soln\.?|solution|solución|soluzione|lösung|gelöst|dissolved|` +
	`dil\.?|diluted|dilution|diluée?|verdünnt|diluido|diluito|verdund)\s+)?` +
	`(dans\s+l['’]\s*|(?:in|im|dans|en|em|i|w|we|v|ve|в)\s+|@\s*)?` +
	`(\pL.*)$`)

// solventPattern matches the usual solvents of dilutions.
var solventPattern = lazyPattern(`(?i)^(?:DPG|dipropylene glycol|dipropylenglykol|IPM|isopropyl myristate|isopropylmyristat|IPP|isopropyl palmitate|` +
	`TEC|triethyl citrate|triethylcitrat|DEP|diethyl phthalate|diethylphthalat|DOA|MPG|PG|propylene glycol|propylenglykol|` +
	`MCT|MCT oil|MCT-Öl|FCO|fractionated coconut oil|BB|benzyl benzoate|benzylbenzoat|benzyl alcohol|benzylalkohol|` +
	`EtOH|ethanol|éthanol|etanol|etanolo|perfumer['’]?s alcohol|DMSO|` + alcoholOrWater + `)$`)

// alcoholOrWater has the words that, behind a percentage, may also say how much alcohol or water an
// ingredient contains.
const alcoholOrWater = `alcohol|alkohol|alcool|álcool|alc\.?|water|wasser|eau|agua|água|acqua|aqua`

// alcoholOrWaterPattern matches those words alone.
var alcoholOrWaterPattern = lazyPattern(`(?i)^(?:` + alcoholOrWater + `)$`)

// wholePattern matches what a percentage may refer to that is no solvent, as in Gouda 48 % in dry
// matter.
var wholePattern = lazyPattern(`(?i)^(?:the |der )?(?:dry|trocken|tr\b|i\.|mati[eè]re|extracto|extrait|materia|mat[eé]ria|sostanza|sustancia|droge stof|` +
	`solids?\b|volum|vol\b|weight|poids|peso|gewicht|ca[ck]ao|cacau|cocoa|total|stock\b|bulk\b)`)

// remarkInBrackets matches a remark behind a solvent, such as its supplier.
var remarkInBrackets = lazyPattern(`\s*[(\[][^()\[\]]*[)\]]$`)

// parseDilution reads the name of an ingredient as that of a dilution. The result contains is true
// if the name may as well say how much alcohol or water the ingredient contains. ok is false if the
// name is not that of a dilution.
func parseDilution(name string) (d Dilution, contains, ok bool) {
	m := dilutionPattern().FindStringSubmatch(name)
	if m == nil {
		return d, false, false
	}
	substance, bracket, percent, in, solvent := strings.TrimSpace(m[1]), m[2], m[3], m[4], strings.TrimSpace(m[5])
	if bracket != "" {
		closing := map[string]string{"(": ")", "[": "]"}[bracket]
		if solvent, ok = strings.CutSuffix(solvent, closing); !ok {
			return d, false, false
		}
		solvent = strings.TrimSpace(solvent)
	}
	solvent = remarkInBrackets().ReplaceAllString(solvent, "")
	if in == "" && !solventPattern().MatchString(solvent) || wholePattern().MatchString(solvent) {
		return d, false, false
	}
	if substance == "" || !hasClosedBrackets(substance) || !hasClosedBrackets(solvent) || strings.EqualFold(substance, solvent) {
		return d, false, false
	}
	of, err := measure.ParseAmount(strings.Replace(percent, ",", ".", 1) + "e-2")
	if err != nil || of.IsZero() {
		return d, false, false
	}
	return Dilution{name, substance, solvent, of}, in == "" && alcoholOrWaterPattern().MatchString(solvent), true
}

// hasClosedBrackets reports whether a text has as many closing brackets as opening ones.
func hasClosedBrackets(text string) bool {
	return strings.Count(text, "(") == strings.Count(text, ")") && strings.Count(text, "[") == strings.Count(text, "]")
}
