package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWritten: the examples are what this program writes.
func TestWritten(t *testing.T) {
	for name, text := range tables() {
		kept, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "serve", "assets", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(kept) != text {
			t.Errorf("%s is not what the program writes: go run ./generate/begin -o ../internal/serve/assets/examples", name)
		}
	}
}
