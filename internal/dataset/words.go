package dataset

import (
	"regexp"
	"slices"
	"strings"
)

// roleWords are lower-case column names that suggest a role, besides the English names of Role. The
// first one that a table has is used.
var roleWords = map[Role][]string{
	RecipeColumn: {"recipe name", "recipes", "cocktail", "cocktails", "drink", "drinks", "cocktail name", "drink name", "strdrink", "dish", "formula", "formulation", "blend",
		"rezept", "rezeptname", "rezeptur", "getränk", "gericht", "mischung", "formel", "recette", "formule", "receta", "fórmula", "ricetta", "name", "title", "titel", "nom", "nombre", "nome"},
	IngredientColumn: {"ingredients", "ingredient name", "component", "components", "raw material", "material", "inci", "inci name", "substance",
		"zutat", "zutaten", "bestandteil", "komponente", "rohstoff", "ingrédient", "ingrédients", "composant", "ingrediente", "ingredientes", "ingredienti", "componente"},
	AmountColumn: {"amounts", "quantity", "qty", "dose", "measure", "menge", "mengen", "anteil", "dosis", "quantité", "dosage", "cantidad", "quantità", "dosi"},
	UnitColumn:   {"units", "uom", "unit of measure", "einheit", "einheiten", "maß", "unité", "unités", "unidad", "unidades", "unità"},
}

// judgementWords are last words of column names whose numbers rate a recipe: how good it is, or
// what it costs.
var judgementWords = []string{
	"rating", "ratings", "score", "scores", "stars", "rank", "ranking", "votes", "liking", "likes", "grade", "popularity", "reviews", "hedonic",
	"price", "cost", "costs", "margin", "calories", "kcal", "abv", "ph", "viscosity", "sweetness", "bitterness", "sourness", "servings", "portions",
	"hardness", "hv", "hv10", "hv30", "hrc", "hb", "hbw", "strength", "mpa", "gpa", "elongation", "density", "conductivity", "härte",
	"sharpe", "return", "returns", "volatility",
	"bewertung", "wertung", "punkte", "sterne", "rang", "preis", "kosten", "portionen", "kalorien",
	"prix", "coût", "évaluation", "étoiles", "precio", "coste", "puntuación", "prezzo", "costo", "voto",
}

// costWords are those of them for which less is better.
var costWords = []string{
	"rank", "ranking", "price", "cost", "costs", "calories", "kcal", "rang", "preis", "kosten", "kalorien",
	"prix", "coût", "precio", "coste", "prezzo", "costo",
}

// flawWords are last words of names of measurements for which nearly everybody wants less.
var flawWords = []string{
	"overpotential", "degradation", "instability", "loss", "losses", "error", "errors", "defect", "defects",
	"turbidity", "haze", "cloudiness", "irritation", "stickiness", "tackiness", "greasiness", "toxicity", "corrosion", "shrinkage", "roughness",
	"impurity", "impurities", "emission", "emissions", "gwp", "trübung", "reizung", "klebrigkeit", "turbidité", "turbidez", "torbidità",
}

// recipeFacts are whole names of columns that describe a recipe.
var recipeFacts = []string{
	"year", "date", "id", "no", "nr", "#", "number", "index", "row", "serves", "yield", "minutes", "time", "temperature", "step", "batch", "quality", "points", "note", "notes", "taste",
	"jahr", "datum", "nummer", "zeit", "alkohol", "année", "año", "nota", "anno",
}

// describesRecipe reports whether a column of that name describes a recipe.
func describesRecipe(name string) bool {
	return slices.Contains(recipeFacts, strings.ToLower(strings.Trim(name, " .:"))) || scalePattern().MatchString(name) || isJudgement(name)
}

// isRowNumber reports whether a column of that name numbers the rows.
func isRowNumber(name string) bool {
	return slices.ContainsFunc(lastWords(name), func(word string) bool {
		return slices.Contains([]string{"id", "no", "nr", "number", "code", "nummer", "batch", "charge", "lot", "run", "sample", "trial", "versuch", "probe"}, word)
	})
}

// isJudgement reports whether a column of that name rates how good a recipe is, or what it costs.
func isJudgement(name string) bool {
	return slices.ContainsFunc(lastWords(name), func(word string) bool { return slices.Contains(judgementWords, word) })
}

// IsJudgement reports whether a label of that name rates a recipe, such as rating or strength.
func IsJudgement(label string) bool { return isJudgement(label) }

// IsCost reports whether less is better for a label of that name, such as unit cost.
func IsCost(label string) bool {
	return slices.ContainsFunc(lastWords(label), func(word string) bool { return slices.Contains(costWords, word) })
}

// IsUnwanted reports whether less is better for a label of that name: a recipe's cost, or a flaw
// such as turbidity.
func IsUnwanted(label string) bool {
	return IsCost(label) || slices.ContainsFunc(lastWords(label), func(word string) bool { return slices.Contains(flawWords, word) })
}

// lastWords returns the last words of a column's name, with and without a text in brackets behind
// them, without a unit, in lower case.
func lastWords(name string) (words []string) {
	plain, _ := SplitHeaderUnit(name)
	name = strings.ToLower(name)
	before, _, _ := strings.Cut(name, "(")
	for _, text := range []string{name, before, strings.ToLower(plain)} {
		all := strings.Fields(wordSeparators().ReplaceAllString(text, " "))
		if len(all) > 0 {
			words = append(words, all[len(all)-1])
		}
	}
	return words
}

// scalePattern matches the end of a column's name that gives the range of its numbers: (1-10), [0
// to 100], /10.
var scalePattern = pattern(`(?i)(?:[(\[]\s*[0-9]+\s*(?:-|–|to|bis|à|\.\.+|…)\s*[0-9]+\s*[)\]]|/\s*[0-9]+\)?)$`)

// sumWords are words in the names of columns and rows that are sums of others.
var sumWords = []string{"total", "sum", "summe", "gesamt", "somme", "suma", "totale", "subtotal"}

// wordSeparators match the text between words in the name of a column.
var wordSeparators = pattern(`[^\pL\pN]+`)

// isSumName reports whether a column of that name is the sum of others.
func isSumName(name string) bool {
	all := wordSeparators().Split(strings.ToLower(name), -1)
	return slices.Contains(sumWords, all[0])
}

// averageWords are names of rows that are the mean of others, or a measure of their spread.
var averageWords = []string{"average", "avg", "mean", "median", "stdev", "std", "mittelwert", "durchschnitt", "moyenne", "promedio", "ø"}

// remainderPattern matches how a table marks an ingredient that makes up the remainder: bal., q.s.
// 100, ad 100 g, to 100. Its groups are the whole, and a text that is not a whole.
var remainderPattern = pattern(`(?i)^(?:(?:bal\.?|balance|rest[eo]?|rem\.?|remainder|remaining|q\.? ?s\.?(?: ?p\.?)?|c\.? ?s\.? ?p\.?)` +
	`(?:[\s(=]*(?:(?:up )?to|ad|auf|à|a)?(?: make)?[\s(]*([0-9.,][^()]*)\)?|(\s.*))?|(?:ad|auf)\s*([0-9].*)|(?:up )?to\s*(1[.,]?00.*))$`)

// fillingPattern matches how recipes mark an ingredient that fills the glass. Only the author of
// the table knows how much that is.
var fillingPattern = pattern(`(?i)^(?:to )?(?:top(?:ped|ping)?|fill(?:ed)?|auff(?:ü|ue)llen|auffüll\S*|aufgie(?:ß|ss)en|zum auff\S+|ergänzen|compléter|completer|allonger|remplir|rellenar|completar|llenar|colmare|rabboccare|riempire)(?:\s.*)?$`)

// isFilling reports whether an amount means filling the glass.
func isFilling(text string) bool { return fillingPattern().MatchString(strings.TrimSpace(text)) }

// sizeHint returns how to define in a problem file how much a word stands for.
func sizeHint(word string) string {
	return "say how much that is: units: {" + YAMLText(NormalizeName(word)) + ": 9 cl}"
}

// hasSumWord reports whether a column's name contains one of sumWords.
func hasSumWord(name string) bool {
	return slices.ContainsFunc(wordSeparators().Split(strings.ToLower(name), -1), func(word string) bool { return slices.Contains(sumWords, word) })
}

// isSumRow reports whether a recipe's name marks it as the sum or the mean of others.
func isSumRow(name string) bool {
	name = strings.ToLower(strings.Trim(name, " :."))
	return slices.Contains(sumWords, name) || slices.Contains(averageWords, name)
}

// unitInName match the ways in which a column's name ends in a unit: Menge (cl), amount [g], dose
// in ml, gin/cl.
var unitInName = []func() *regexp.Regexp{
	pattern(`^(.*\S)\s*(?:\(([^()]+)\)|\[([^\[\]]+)\])$`), // before the others: (kg/m3)
	pattern(`^(.*\S)(?:\s(?i:in)\s+(\S+)|\s*/\s*(\S+))$`),
}

// unitBehindComma matches another way, for units that are not also words: salt, g/l.
var unitBehindComma = pattern(`^(.*\S)\s*,\s*(\S+(?: \S+)?)$`)

// percentAtEnd matches a percent sign at the end of a column's name that is not part of the name:
// not Alcohol 96 %.
var percentAtEnd = pattern(`^(.*[^\s\d.,])[\s,]*%$`)

// cutPercent cuts a percent sign off the end of a column's name.
func cutPercent(name string) (base string, ok bool) {
	if !strings.HasSuffix(name, "%") {
		return name, false
	}
	m := percentAtEnd().FindStringSubmatch(name)
	if m == nil {
		return name, false
	}
	return NormalizeName(m[1]), true
}

// splitUnit cuts the unit off a column's name. unit is nil if it has none.
func splitUnit(name string, units *Units) (base string, unit *Unit) {
	if !strings.ContainsAny(name, ",)]/ \t\n\f\r") {
		return name, nil // no way matches; checked first because tables have many columns
	}
	if m := unitBehindComma().FindStringSubmatch(name); m != nil {
		if u, ok := units.Lookup(m[2]); ok && u.inMass == nil && u.Kind != Count && u.Kind != Share {
			return NormalizeName(m[1]), u
		}
	}
	for _, way := range unitInName {
		m := way().FindStringSubmatch(name)
		for i := 2; i < len(m); i++ {
			if u, ok := units.Lookup(m[i]); m[i] != "" && ok {
				return NormalizeName(m[1]), u
			}
		}
	}
	return name, nil
}

// A Meaning is the meaning of a column of a table of ingredients.
type Meaning string

// The meanings. A figure is any other number, a group is a value that several ingredients share,
// and a remark is any other text.
const (
	Price   Meaning = "price"
	Stock   Meaning = "stock"
	Maximum Meaning = "maximum"
	Minimum Meaning = "minimum"
	Figure  Meaning = "figure"
	Group   Meaning = "group"
	Remark  Meaning = "note"
)

// meanings are words in the names of columns that identify their meaning.
var meanings = []struct {
	meaning Meaning
	words   []string
}{
	{Maximum, []string{"max", "maximum", "maximal", "höchstens", "höchstmenge", "höchstdosis", "maxi", "máximo", "massimo", "limit"}},
	{Minimum, []string{"min", "minimum", "minimal", "mindestens", "mindestmenge", "mini", "mínimo", "minimo"}},
	{Stock, []string{"stock", "inventory", "available", "bestand", "vorrat", "lager", "stocks", "existencias", "giacenza", "scorta"}},
}

// Meaning returns the meaning of an attribute, from its name and its values.
func (a *Attribute) Meaning() Meaning {
	_, err := a.Numbers()
	numbers := err == nil && slices.ContainsFunc(a.Values, func(v string) bool { return v != "" })
	if numbers {
		all := wordSeparators().Split(strings.ToLower(a.Name), -1)
		for _, m := range meanings {
			if slices.ContainsFunc(all, func(word string) bool { return slices.Contains(m.words, word) }) {
				return m.meaning
			}
		}
		name, _ := SplitHeaderUnit(a.Name)
		if IsCost(a.Name) || IsCost(name) || a.Affix != "" && a.Affix != "%" {
			return Price
		}
		return Figure
	}
	distinct := make(map[string]bool)
	for _, v := range a.Values {
		distinct[v] = true
	}
	if 3*len(distinct) <= 2*len(a.Values) {
		return Group
	}
	return Remark
}

// Percent reports whether an attribute is in percent, according to its name or all its cells.
func (a *Attribute) Percent() bool { return a.Affix == "%" || strings.Contains(a.Name, "%") }
