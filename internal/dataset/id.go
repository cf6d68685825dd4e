package dataset

import (
	"strconv"
	"strings"
)

// ID returns the id of a recipe: B3-1 is the first of the third batch. No spreadsheet mistakes it
// for a date.
func ID(round, number int) string {
	return "B" + strconv.Itoa(round) + "-" + strconv.Itoa(number)
}

// ParseID is the inverse of [ID], and reports whether id has that form. The id may lack the B, and
// have another dash.
func ParseID(id string) (round, number int, ok bool) {
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

// dashReplacer unifies the hyphens, dashes and minus signs that programs substitute for one
// another.
var dashReplacer = strings.NewReplacer("‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-")

// parseCount parses a number of one to nine digits without leading zeros.
func parseCount(text string) (int, bool) {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" || text[0] == '0' && text != "0" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// IDKey returns the form in which ids are compared: 3-1 and B3-1 are one id.
func IDKey(id string) string {
	if id == "" || id[0] != 'B' && id[0] != 'b' && (id[0] < '0' || id[0] > '9') {
		return id
	}
	if round, number, ok := ParseID(id); ok {
		return ID(round, number)
	}
	return id
}
