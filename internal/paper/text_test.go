package paper

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
)

// All that is printed of a row is its own: the paper's rate, the exact one, the
// measured one with its spread, and z, each in its column and with its digits.
func TestText(t *testing.T) {
	published := 12.345
	r := &Report{Sequences: 20, Tables: []Table{
		{Name: "Table 2", Title: "rates on small targets", Iterations: 2000, Discarded: 400, Rows: []Row{
			{Target: "small a", Kernel: KernelGibbs, Rate: Accepted, Paper: &published, Exact: 12.0006, Mean: 11.9994, SD: 0.5, Z: -1.26},
			{Target: "small a", Kernel: KernelNaive, Rate: Updated, Exact: 3, Mean: 2.5, SD: 0.25, Z: 0.04},
		}},
		{Name: "Table 3", Title: "rates on large targets", Iterations: 50, Discarded: 10},
	}}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	text, notes, _ := strings.Cut(b.String(), "\nz is")
	want := `Table 2: rates on small targets, 20 sequences of 2000 iterations, the first 400 discarded
target   kernel  rate      paper %  exact %   kir %   ± sd     z
small a  gibbs   accepted    12.35   12.001  11.999  0.500  −1.3
small a  naive   updated         —    3.000   2.500  0.250   0.0

Table 3: rates on large targets, 20 sequences of 50 iterations, the first 10 discarded
target  kernel  rate  paper %  exact %  kir %  ± sd  z
`
	if text != want {
		t.Errorf("it prints\n%s\nand not\n%s", text, want)
	}
	if !strings.Contains(notes, "standard errors") {
		t.Errorf("the notes are %s", notes)
	}
}

// What a trial of a seed says and draws is what it was: the figures of the paper and of
// kir, how they differ and why, and where each bar and number stands.
func TestTrialAsBefore(t *testing.T) {
	r := mustTrial(t)
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(mustHTML(t, r, mustPictures(t)), "")
	page = regexp.MustCompile(`(<(?:path|rect|circle|text|tr|section|h2|h3|p)[ >])`).ReplaceAllString(page, "\n$1")
	for name, got := range map[string]string{"testdata/trial.txt": text.String(), "testdata/trial.html": page} {
		golden.Compare(t, name, []byte(got))
	}
}

// What cannot be written is told.
func TestTextToAFullDisk(t *testing.T) {
	r := &Report{Tables: []Table{{Name: "Table 2"}}}
	if err := r.WriteText(fullDisk{}); err == nil {
		t.Error("nothing is told")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A report goes into a directory that is not there, of one that is.
func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := CheckNewDir(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{dir: "exist", filepath.Join(dir, "none", "new"): "no such", filepath.Join(file, "new"): "not a directory"} {
		if err := CheckNewDir(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
