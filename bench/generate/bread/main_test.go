package main

import (
	"os"
	"path/filepath"
	"testing"
)

// trials.csv is what the program writes.
func TestTrialsAreGenerated(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "bread", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if trials() != string(want) {
		t.Error("trials.csv is another: go run -C bench ./generate/bread")
	}
}
