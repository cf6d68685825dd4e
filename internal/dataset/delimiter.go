package dataset

import (
	"bytes"
	"fmt"
	"strings"

	"kir/internal/inputerr"
)

// delimiters are the marks that may separate columns, with their names.
var delimiters = []struct {
	mark rune
	name string
}{{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}}

// delimiterRows is the number of rows from which the delimiter is guessed.
const delimiterRows = 50

// findDelimiter returns the delimiter of a name that is not empty. Otherwise it returns the one
// with which most of the first rows have as many columns as the longest row; among equals, the one
// that makes more columns.
func findDelimiter(head []byte, name string) (rune, error) {
	if name != "" {
		var names []string
		for _, d := range delimiters {
			if d.name == name {
				return d.mark, nil
			}
			names = append(names, d.name)
		}
		return 0, fmt.Errorf("there is no delimiter %s: write one of %s", inputerr.Quote(name), strings.Join(names, ", "))
	}
	for _, d := range delimiters {
		mark := string(d.mark)
		if bytes.HasPrefix(head, []byte(strings.Join(resultColumns, mark)+mark)) {
			return d.mark, nil // a file of results, whose texts may contain any marks
		}
	}
	best, bestRows, bestColumns := ',', 0, 1
	for _, d := range delimiters {
		r := newCSVReader(bytes.NewReader(head), d.mark)
		widths := make(map[int]int)
		widest := 0
		for range delimiterRows {
			row, err := r.Read()
			if err != nil {
				break
			}
			widths[len(row)]++
			widest = max(widest, len(row))
		}
		// If every other row is shorter, the text is not a table with this delimiter.
		columns, rows := 0, 0
		for width, n := range widths {
			if width > 1 && (n > rows || n == rows && width > columns) {
				columns, rows = width, n
			}
		}
		if rows > bestRows || rows == bestRows && columns > bestColumns {
			best, bestRows, bestColumns = d.mark, rows, columns
		}
	}
	return best, nil
}

// declaredDelimiter returns the delimiter that a first line such as "sep=;" declares, and the
// length of that line; 0 if there is none. Spreadsheets write such lines.
func declaredDelimiter(head []byte) (mark rune, length int) {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	text := strings.TrimRight(string(line[:min(len(line), 8)]), "\r")
	if len(text) == 5 && strings.EqualFold(text[:4], "sep=") && strings.ContainsRune(",;\t|", rune(text[4])) {
		return rune(text[4]), min(len(line)+1, len(head))
	}
	return 0, 0
}
