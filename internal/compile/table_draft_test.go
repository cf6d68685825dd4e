package compile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/dataset"
	"kir/internal/testonly/testmode"
)

// TestTableDrafts: of every table that is read, the problem that is drafted reads it again as it was and can be sampled,
// whichever result is its objective. The short form takes one table in eight.
func TestTableDrafts(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.csv", "*.xlsx"} {
		some, err := filepath.Glob(filepath.Join("testdata/tables", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	step := 8
	if testmode.Enabled() {
		step = 1
	}
	drafted := 0
	for k := 0; k < len(files); k += step {
		text, err := os.ReadFile(files[k])
		if err != nil {
			t.Fatal(err)
		}
		dir, name := t.TempDir(), filepath.Base(files[k])
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		d := &Draft{Table: name}
		table := Table{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
		if err := d.ReadTable(table, dataset.Options{}); err != nil || d.Book == nil {
			continue // TestReadings tells what is refused
		}
		if open := d.OpenObjectives(); len(open) > 0 {
			if err := d.ChooseObjectives(open[:1]); err != nil {
				t.Errorf("%s: the objective %q: %v", name, open[0], err)
			}
		}
		problem, err := d.Finish(t.Context(), filepath.Join(dir, "problem.yaml"))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(string(problem), "recipes:"):
			t.Errorf("%s: the draft has no recipes:\n%s", name, problem)
		default:
			drafted++
		}
	}
	t.Logf("%d tables are drafted", drafted)
	if drafted < len(files)/step/2 {
		t.Errorf("only %d of %d tables are drafted", drafted, len(files)/step)
	}
}
