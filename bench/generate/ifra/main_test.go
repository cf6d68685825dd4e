package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The files of the example are what the generator writes.
func TestFilesAreGenerated(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ingredients.csv", "constituents.csv", "limits.csv"} {
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "ifra", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("%s is not what the generator writes: go run -C bench ./generate/ifra", name)
		}
	}
}
