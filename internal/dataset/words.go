package dataset

import (
	"regexp"
	"slices"
	"strings"

	"kir/internal/measure"
)

// roleWords holds, for each role, the names of columns in lower case that suggest the role, in
// addition to the name of the role itself. Earlier names take precedence.
var roleWords = map[Role][]string{
	RecipeColumn: {"recipe name", "account", "konto", "depot", "compte", "cuenta", "conta", "rekening", "miscela", "miscele", "mengsel", "mezcla", "mistura", "mélange", "recipes", "cocktail", "cocktails", "drink", "drinks", "cocktail name", "drink name", "strdrink", "dish", "formula", "formulation", "blend",
		"recept", "receptuur", "receita", "przepis", "mieszanka", "traço", "rezept", "rezeptname", "rezeptur", "getränk", "gericht", "mischung", "formel", "recette", "formule", "receta", "fórmula", "ricetta", "name", "title", "titel", "nom", "nombre", "nome",
		"opskrift", "opskrifter", "blanding", "blandinger", "oppskrift", "blandning", "resepti", "reseptin nimi", "seos", "receptura", "směs", "zmes", "receptúra", "keverék", "rețetă", "rețeta", "amestec", "mješavina", "smjesa", "tarif", "reçete", "karışım",
		"název", "názov", "név", "naziv", "naam", "nume", "nazwa", "nimi", "navn", "namn", "formül", "bebida", "plato", "cóctel", "coctel", "coquetel", "prato", "bevanda", "piatto", "boisson", "plat", "drank", "gerecht", "mischungsname", "versatz", "gemenge",
		"mixture", "mix name", "recipe id", "formula name", "formulation name", "blend name", "compound name", "glaze", "glaze name", "alloy name", "portfolio", "portfolio name", "mix design", "gâchée"},
	IngredientColumn: {"ingredients", "holding", "holdings", "position", "positions", "security", "securities", "instrument", "wertpapier", "wertpapiere", "titre", "título", "titolo", "effect", "ingredient name", "component", "components", "raw material", "raw materials", "material", "materials", "feedstuff", "inci", "inci name", "substance",
		"zutat", "zutaten", "einsatzstoff", "rohstoffe", "komponenten", "matière première", "matières premières", "matière", "matières", "materia prima", "materie prime", "grondstof", "grondstoffen", "ingrediënt", "ingrediënten", "matéria-prima", "råvara", "surowiec", "składnik", "bestandteil", "komponente", "rohstoff", "ingrédient", "ingrédients", "composant", "ingrediente", "ingredientes", "ingredienti", "componente",
		"råvare", "råvarer", "råvaror", "råstoff", "råstoffer", "råmateriale", "ingrediens", "ingredienser", "tilsetning", "komponent", "komponenter", "raaka-aine", "raaka-aineet", "ainesosa", "ainesosat", "ainekset", "komponentti", "materiaali", "surowce", "składniki", "materiał", "substancja",
		"surovina", "suroviny", "složka", "složky", "přísada", "ingredience", "materiál", "látka", "zložka", "zložky", "prísada", "alapanyag", "alapanyagok", "nyersanyag", "összetevő", "összetevők", "hozzávaló", "hozzávalók", "komponens", "materie primă", "materii prime", "componentă",
		"sirovina", "sirovine", "sastojak", "sastojci", "materijal", "hammadde", "hammaddeler", "ham madde", "bileşen", "bileşenler", "malzeme", "malzemeler", "içerik", "materias primas", "insumo", "insumos", "sustancia", "componentes", "matérias-primas", "matéria prima", "substância", "materiale", "componenti", "sostanza",
		"constituant", "constituants", "composants", "bestanddeel", "bestanddelen", "componenten", "inhaltsstoff", "inhaltsstoffe", "bestandteile", "einsatzstoffe", "substanz", "rohmaterial", "futtermittel", "riechstoff", "feedstuffs", "substances", "chemical", "chemicals", "constituent"},
	AmountColumn: {"amounts", "ilość", "ilości", "mängd", "hoeveelheid", "quantidade", "cantidades", "einwaage", "weight", "weights", "grams", "quantity", "qty", "dose", "measure", "menge", "mengen", "anteil", "dosis", "quantité", "dosage", "cantidad", "quantità", "dosi",
		"mængde", "mængder", "vægt", "andel", "dosering", "mengde", "mengder", "vekt", "mängder", "vikt", "määrä", "määrät", "paino", "osuus", "annos", "masa", "dawka", "udział", "množství", "hmotnost", "podíl", "dávka", "množstvo", "hmotnosť", "podiel",
		"mennyiség", "tömeg", "részarány", "adag", "cantitate", "cantitatea", "cantități", "količina", "količine", "udio", "miktar", "miktarı", "proporción", "peso", "quantidades", "dosagem", "qtd", "qtde", "dosaggio", "q.tà", "quantités", "masse", "poids", "qté", "hoeveelheden", "gewicht", "aandeel", "zugabe",
		"market value", "value", "holding value", "position value", "marktwert", "kurswert", "valeur", "valeur de marché", "valor", "valor de mercado", "controvalore", "waarde", "marktwaarde", "marknadsvärde", "markedsverdi", "wartość", "mass", "proportion", "share", "percentage", "parts", "phr", "addition"},
	UnitColumn: {"units", "uom", "u.m.", "um", "u. m.", "eenheid", "enhet", "jednostka", "j.m.", "unid.", "unit of measure", "einheit", "einheiten", "maß", "unité", "unités", "unidad", "unidades", "unità",
		"enhed", "enheder", "enheter", "yksikkö", "jednostki", "jedn.", "jednotka", "jednotky", "mj", "m.j.", "měrná jednotka", "egység", "mértékegység", "m.e.", "unitate", "u/m", "jedinica", "mjerna jedinica", "jed. mjere", "birim", "birimi", "unidade", "unid", "eenheden", "unité de mesure", "unidad de medida", "unità di misura", "mengeneinheit"},
}

// describesRecipe reports whether the name of a column says that the column describes a recipe and
// does not hold amounts.
func describesRecipe(name string) bool {
	bare, _ := SplitHeaderUnit(name)
	return factName.includes(strings.ToLower(strings.Trim(name, " .:"))) || hasBracketedUnit(name) && factName.includes(strings.ToLower(strings.Trim(bare, " .:"))) || scalePattern().MatchString(name) || isJudgement(name)
}

// isRowNumber reports whether the name of a column says that the column numbers the rows.
func isRowNumber(name string) bool {
	return numberWord.isIn(lastWords(name))
}

// isJudgement reports whether the name of a column says that the column rates recipes: how good a
// recipe is, or what it costs.
func isJudgement(name string) bool {
	return judgementWord.isIn(lastWords(name))
}

// IsCostName reports whether the name of a label, such as unit cost, says that the label is a cost or a
// rank. Lower values are then better.
func IsCostName(label string) bool {
	name, unit := SplitHeaderUnit(label)
	isMoney := slices.Contains(affixes, strings.ToUpper(unit)) && unit != "%"
	return costWord.isIn(lastWords(label)) || isMoney && costWord.isIn(wordsOf(name)) || pricePattern().MatchString(NormalizeName(label))
}

// pricePattern matches names that are a price by their unit alone, such as EUR/kg and € per l.
var pricePattern = lazyPattern(`(?i)^[([]?(?:€|\$|£|¥|eur|euro|usd|us\$|gbp|chf|sek|nok|dkk|pln|czk|huf|cny|jpy|inr|brl)[a-z]? ?(?:/|per|pro|je|par|por|al) ?[0-9]* ?\pL{1,6}[)\]]?$`)

// IsLowerBetterName reports whether the name of a label says that lower values are better, because the
// label is a cost, or a flaw such as turbidity.
func IsLowerBetterName(label string) bool {
	return IsCostName(label) || flawWord.isIn(lastWords(label))
}

// lastWords returns up to three words in lower case: the last word of a column name, of the part
// before a bracket, and of the name without its unit.
func lastWords(name string) (words []string) {
	name = yearlyPattern().ReplaceAllString(name, "")
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

// yearlyPattern matches the words behind a rate that say that it is of a year.
var yearlyPattern = lazyPattern(`(?i)[\s,(]+(?:p\. ?a\.?|per annum|a year|per year|pro jahr|par an|al año|all'anno|per år)\)?$`)

// scalePattern matches the end of a column name that gives the range of the numbers: (1-10), [0 to
// 100], /10.
var scalePattern = lazyPattern(`(?i)(?:[(\[]\s*[0-9]+\s*(?:-|–|to|bis|à|\.\.+|…)\s*[0-9]+\s*[)\]]|/\s*[0-9]+\)?)$`)

// wordSeparators matches the characters between two words in the name of a column.
var wordSeparators = lazyPattern(`[^\pL\pN]+`)

// isSumName reports whether the name of a column begins with a word for a sum.
func isSumName(name string) bool {
	all := wordSeparators().Split(strings.ToLower(name), -1)
	return sumWord.includes(all[0])
}

// sumSignPattern matches the sign for a sum, which is also a letter of Greek words.
var sumSignPattern = lazyPattern(`Σ(?:[^\pL]|$)`)

// hasSumWord reports whether the name of a column contains a word for a sum.
func hasSumWord(name string) bool {
	words := wordSeparators().Split(strings.ToLower(name), -1)
	return sumSignPattern().MatchString(name) || sumWord.isIn(words) || slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "gesamt") })
}

// isSumRow reports whether the name of a recipe says that its row is the sum or the mean of other
// rows.
func isSumRow(name string) bool {
	name = strings.ToLower(strings.Trim(name, " :."))
	return sumWord.includes(name) || meanWord.includes(name)
}

// unitInNamePatterns match the ways in which a column name ends in a unit: Menge (cl), amount [g],
// dose in ml, gin/cl. Group 1 is the name, and one of the other groups is the unit.
var unitInNamePatterns = []func() *regexp.Regexp{
	lazyPattern(`^(.*\S)\s*(?:\(([^()]+)\)|\[([^\[\]]+)\])$`), // before the others: (kg/m3)
	lazyPattern(`^(.*\S)(?:\s(?i:in)\s+(\S+)|\s*/\s*(\S+))$`),
}

// unitBehindCommaPattern matches a column name with a unit behind a comma: salt, g/l. Group 1 is
// the name and group 2 the unit. It is used only for units that are not also common words.
var unitBehindCommaPattern = lazyPattern(`^(.*\S)\s*,\s*(\S+(?: \S+)?)$`)

// percentAtEndPattern matches a column name that ends in a percent sign, if the sign is a unit. It
// does not match Alcohol 96 %, where the sign belongs to the name. Group 1 is the name without the
// sign.
var percentAtEndPattern = lazyPattern(`^(.*[^\s\d.,])[\s,]*%$`)

// cutPercent removes a percent sign that is a unit from the end of a column name. ok is false if
// there is none.
func cutPercent(name string) (base string, ok bool) {
	if !strings.HasSuffix(name, "%") {
		return name, false
	}
	m := percentAtEndPattern().FindStringSubmatch(name)
	if m == nil {
		return name, false
	}
	return NormalizeName(m[1]), true
}

// splitUnit splits a column name into the name without the unit and the unit. unit is nil if the
// name has no known unit.
func splitUnit(name string, units *measure.Units) (base string, unit *measure.Unit) {
	if !strings.ContainsAny(name, ",)]/ \t\n\f\r") {
		return name, nil // no way matches; checked first because tables have many columns
	}
	if m := unitBehindCommaPattern().FindStringSubmatch(name); m != nil {
		if u, ok := units.Lookup(m[2]); ok && u.AsMass == nil && u.Kind != measure.PieceCount && u.Kind != measure.PartCount {
			return NormalizeName(m[1]), u
		}
	}
	for _, way := range unitInNamePatterns {
		m := way().FindStringSubmatch(name)
		for i := 2; i < len(m); i++ {
			if u, ok := units.Lookup(m[i]); m[i] != "" && ok {
				return NormalizeName(m[1]), u
			}
		}
	}
	return name, nil
}

// A Meaning says what a column of a table of ingredients holds, such as prices.
type Meaning string

// The meanings of an attribute of ingredients.
const (
	Price       Meaning = "price"
	Stock       Meaning = "stock"   // the amount that is available
	Maximum     Meaning = "maximum" // the maximum amount in a recipe
	Minimum     Meaning = "minimum" // the minimum amount in a recipe
	OtherNumber Meaning = "figure"  // any other number
	Group       Meaning = "group"   // a text that several ingredients share
	OtherText   Meaning = "note"    // any other text
)

// meaningWords holds words in the names of columns, in lower case, and the meanings that they
// suggest.
var meaningWords = []struct {
	meaning Meaning
	words   []string
}{
	{Maximum, []string{"max", "maximum", "maximal", "höchstens", "höchstmenge", "höchstdosis", "maxi", "máximo", "massimo", "limit"}},
	{Minimum, []string{"min", "minimum", "minimal", "mindestens", "mindestmenge", "mini", "mínimo", "minimo"}},
	{Stock, []string{"stock", "inventory", "available", "bestand", "vorrat", "lager", "stocks", "existencias", "giacenza", "scorta"}},
}

// Meaning guesses the meaning of an attribute from its name and its values.
func (a *Attribute) Meaning() Meaning {
	_, err := a.Numbers()
	numbers := err == nil && slices.ContainsFunc(a.Values, func(v string) bool { return v != "" })
	if numbers {
		all := wordSeparators().Split(strings.ToLower(a.Name), -1)
		for _, m := range meaningWords {
			if slices.ContainsFunc(all, func(word string) bool { return slices.Contains(m.words, word) }) {
				return m.meaning
			}
		}
		name, _ := SplitHeaderUnit(a.Name)
		if IsCostName(a.Name) || IsCostName(name) || a.Affix != "" && a.Affix != "%" {
			return Price
		}
		return OtherNumber
	}
	distinct := make(map[string]bool)
	for _, v := range a.Values {
		distinct[v] = true
	}
	if 3*len(distinct) <= 2*len(a.Values) {
		return Group
	}
	return OtherText
}

// IsPercent reports whether the numbers of the attribute are percentages: all cells have a percent
// sign, or the name has one.
func (a *Attribute) IsPercent() bool { return a.Affix == "%" || strings.Contains(a.Name, "%") }
