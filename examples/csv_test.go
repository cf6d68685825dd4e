package examples_test

import (
	"encoding/csv"
	"os"
	"testing"
)

// readCSV returns the header of a CSV file and the rows below it.
func readCSV(t *testing.T, name string) (header []string, rows [][]string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[0], all[1:]
}
