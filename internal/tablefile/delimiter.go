package tablefile

import (
	"bytes"
	"fmt"
	"strings"

	"kir/internal/inputerr"
)

// Delimiters are the characters that may separate the columns of a CSV file, with the names that a
// [Layout] uses.
var Delimiters = []struct {
	Mark rune
	Name string
}{{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}}

// delimiterSampleRows is the maximum number of rows from which findDelimiter guesses the delimiter.
const delimiterSampleRows = 50

// FindDelimiter returns the delimiter with a given name. If the name is empty, it guesses the
// delimiter from head, the beginning of the file. If the header begins with the columns in known, that decides. Else it counts the rows of the most frequent length
// above one column. The delimiter with the most such rows wins; ties go to the one that makes more
// columns. Without any such rows, the delimiter is the comma.
func FindDelimiter(head []byte, name string, known []string) (rune, error) {
	if name != "" {
		var names []string
		for _, d := range Delimiters {
			if d.Name == name {
				return d.Mark, nil
			}
			names = append(names, d.Name)
		}
		return 0, fmt.Errorf("there is no delimiter %s: write one of %s", inputerr.Quote(name), strings.Join(names, ", "))
	}
	for _, d := range Delimiters {
		mark := string(d.Mark)
		if bytes.HasPrefix(head, []byte(strings.Join(known, mark)+mark)) {
			return d.Mark, nil // a file of the program's own, whose texts may contain any marks
		}
	}
	best, bestRows, bestColumns := ',', 0, 1
	for _, d := range Delimiters {
		r := newCSVReader(bytes.NewReader(head), d.Mark)
		widths := make(map[int]int)
		widest := 0
		for range delimiterSampleRows {
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
			best, bestRows, bestColumns = d.Mark, rows, columns
		}
	}
	return best, nil
}

// DeclaredDelimiter returns the delimiter that a first line such as "sep=;" declares, as
// spreadsheets write, and the length of that line in bytes. It returns 0, 0 if there is no such
// line.
func DeclaredDelimiter(head []byte) (mark rune, length int) {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	text := strings.TrimRight(string(line[:min(len(line), 8)]), "\r")
	if len(text) == 5 && strings.EqualFold(text[:4], "sep=") && strings.ContainsRune(",;\t|", rune(text[4])) {
		return rune(text[4]), min(len(line)+1, len(head))
	}
	return 0, 0
}
