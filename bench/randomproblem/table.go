package randomproblem

import (
	"encoding/csv"
	"strconv"
	"strings"
)

// table returns a CSV file with a header and a row of numbers for each name.
func table(header, names []string, values [][]float64) string {
	rows := [][]string{header}
	for i, name := range names {
		row := []string{name}
		for _, v := range values[i] {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	return commas(rows)
}

func commas(rows [][]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.WriteAll(rows) // into memory, which does not fail
	return b.String()
}
