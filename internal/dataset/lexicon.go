package dataset

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A wordRole is what a word in the name of a column or a row, or among classes, tells of it.
type wordRole string

// The roles of words, as lexicon.txt explains them.
const (
	judgementWord    wordRole = "judgement"
	ratingWord       wordRole = "rating"
	costWord         wordRole = "cost"
	sellingWord      wordRole = "selling"
	flawWord         wordRole = "flaw"
	resultWord       wordRole = "result"
	qualityWord      wordRole = "quality"
	factName         wordRole = "fact"
	numberWord       wordRole = "number"
	setWord          wordRole = "set"
	ambiguousWord    wordRole = "ambiguous"
	setUnit          wordRole = "set unit"
	ambiguousUnit    wordRole = "ambiguous unit"
	processWord      wordRole = "process"
	circumstanceWord wordRole = "circumstance"
	outcomeWord      wordRole = "outcome"
	sumWord          wordRole = "sum"
	meanWord         wordRole = "mean"
	extremeWord      wordRole = "extreme"
	indifferentWord  wordRole = "indifferent"
	limitWord        wordRole = "limit"
	ingredientWord   wordRole = "ingredient"
	batchWord        wordRole = "batch"
	weightWord       wordRole = "weight"
	setHeading       wordRole = "set heading"
	resultHeading    wordRole = "result heading"

	compositionHeading wordRole = "composition heading"
	unknownWord        wordRole = "unknown"
	attributeName      wordRole = "attribute"
	dittoWord          wordRole = "ditto"
)

// classRoles are the roles of names of classes, from the worst to the best.
var classRoles = [...]wordRole{"worst", "bad", "middling", "good", "best"}

//go:embed lexicon.txt
var lexiconText string

// A vocabulary is the words of one role.
type vocabulary struct {
	words map[string]bool
	ends  []string // words that also count at the end of a compound word
}

// lexicon returns the vocabulary of each role.
var lexicon = sync.OnceValue(func() map[wordRole]*vocabulary {
	all := make(map[wordRole]*vocabulary)
	for line := range strings.Lines(lexiconText) {
		name, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		role := wordRole(name)
		if all[role] == nil {
			all[role] = &vocabulary{words: make(map[string]bool)}
		}
		for word := range strings.SplitSeq(list, ",") {
			word, isEnd := strings.CutPrefix(strings.TrimSpace(word), "-")
			all[role].words[word] = true
			if isEnd {
				all[role].ends = append(all[role].ends, word)
			}
		}
	}
	return all
})

// includes reports whether a text in lower case is a word of the role.
func (r wordRole) includes(text string) bool { return lexicon()[r].words[text] }

// isIn reports whether one of some words in lower case is a word of the role, or a compound word that ends in one, as
// Backtemperatur does.
func (r wordRole) isIn(words []string) bool {
	v := lexicon()[r]
	return slices.ContainsFunc(words, func(word string) bool {
		return v.words[word] || slices.ContainsFunc(v.ends, func(end string) bool { return strings.HasSuffix(word, end) })
	})
}

// gradePattern matches the grade of a product, such as PH-102, which is no word.
var gradePattern = lazyPattern(`\b[A-Z]{2,}-[0-9]{2,}`)

// wordsOf returns the words of a text, in lower case, but for the grades of products.
func wordsOf(text string) []string {
	if strings.ContainsRune(text, '-') {
		text = gradePattern().ReplaceAllString(text, "")
	}
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// classRank returns the place of a class in an order from the worst to the best: that of its words, or the number of
// stars that are filled. known is false for a class without a place.
func classRank(class string) (rank float64, known bool) {
	class = strings.ToLower(NormalizeName(class))
	if stars := strings.Count(class, "★"); stars+strings.Count(class, "☆") > 0 && strings.Trim(class, "★☆½ ") == "" {
		rank = float64(stars)
		if strings.Contains(class, "½") {
			rank += 0.5
		}
		return rank, true
	}
	for rank, role := range classRoles {
		if role.includes(class) {
			return float64(rank), true
		}
	}
	return 0, false
}

// OrderClasses returns the classes from the worst to the best if all have a place in one order and no two have the same:
// words such as poor, fair and good, or stars. ok is false if they have not.
func OrderClasses(classes []string) (order []string, ok bool) {
	ranks := make(map[string]float64, len(classes))
	taken := make(map[float64]bool, len(classes))
	stars := 0
	for _, class := range classes {
		rank, known := classRank(class)
		if !known || taken[rank] {
			return nil, false
		}
		if strings.ContainsAny(class, "★☆") {
			stars++
		}
		ranks[class], taken[rank] = rank, true
	}
	if len(classes) < 2 || stars > 0 && stars < len(classes) {
		return nil, false
	}
	order = slices.Clone(classes)
	slices.SortFunc(order, func(a, b string) int {
		if ranks[a] < ranks[b] {
			return -1
		}
		return 1
	})
	return order, true
}
