package dataset

import (
	"strconv"
	"strings"
)

// RecipeID returns the id of a recipe from its round (batch) and its number in the round: B3-1 is the
// first recipe of the third batch. No spreadsheet mistakes such an id for a date.
func RecipeID(round, number int) string {
	return "B" + strconv.Itoa(round) + "-" + strconv.Itoa(number)
}

// ParseRecipeID parses an id that [RecipeID] returns. The B may be missing or in lower case, and the hyphen may
// be another kind of dash. ok is false if the text is not such an id.
func ParseRecipeID(id string) (round, number int, ok bool) {
	id = strings.TrimPrefix(strings.TrimPrefix(id, "B"), "b")
	first, second, found := strings.Cut(dashReplacer.Replace(id), "-")
	if !found {
		return 0, 0, false
	}
	round, ok = parseCount(first)
	if !ok {
		return 0, 0, false
	}
	number, ok = parseCount(second)
	return round, number, ok
}

// dashReplacer replaces the dashes and minus signs that programs substitute for a hyphen by a
// hyphen.
var dashReplacer = strings.NewReplacer("‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-")

// parseCount parses a whole number of one to nine digits without leading zeros. ok is false if the
// text is not such a number.
func parseCount(text string) (n int, ok bool) {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" || text[0] == '0' && text != "0" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// IDKey returns the key by which ids are compared. Spellings of one id, such as 3-1 and B3-1, have
// the same key. A text that is not an id is its own key.
func IDKey(id string) string {
	if id == "" || id[0] != 'B' && id[0] != 'b' && (id[0] < '0' || id[0] > '9') {
		return id
	}
	if round, number, ok := ParseRecipeID(id); ok {
		return RecipeID(round, number)
	}
	return id
}
