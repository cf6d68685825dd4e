package compile

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"kir/internal/config/schema"
	"kir/internal/testonly/golden"
)

// TestGenerated: the reference, and the schema beside the examples, are what the
// description says.
func TestGenerated(t *testing.T) {
	text, err := Schema().JSON()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{
		"../../docs/problem.md":             reference(Schema()),
		"../../examples/" + schema.FileName: text,
	} {
		if golden.Updates() {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the description says (%v): go test ./internal/compile -run TestGenerated -update", path, err)
		}
	}
}

// TestFromHere: no reader has a list of keys of its own.
func TestFromHere(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if own := regexp.MustCompile(`\.Fields\([^)]*".*`).Find(text); own != nil {
			t.Errorf("%s has keys of its own: %s", file, own)
		}
	}
}
