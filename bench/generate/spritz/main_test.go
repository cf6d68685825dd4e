package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// kept is a file in memory.
type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }

// trials.csv is what the program writes.
func TestTrialsAreGenerated(t *testing.T) {
	var got kept
	if err := write(func(string) (*kept, error) { return &got, nil }); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "spritz", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("trials.csv is another: go run -C bench ./generate/spritz")
	}
}
