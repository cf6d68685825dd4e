package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"kir/internal/report"
	"kir/internal/run"
)

// Messages of what no command line leads to on every machine.
func TestRareMessages(t *testing.T) {
	says := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, and not %q", err, want)
		}
	}
	_, err := problemFileOf(&run.Run{Dir: "run", Manifest: new(run.Manifest)})
	says(err, "does not know where its problem file is")
	says((&tableFlags{}).writeShortlist(&cobra.Command{}, "run", &report.Model{}, 0), "the run has no shortlist")
	if runtime.GOOS != "linux" {
		return
	}
	t.Setenv("PATH", t.TempDir())
	says(openBrowser("http://localhost"), "xdg-open is not there")
	if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), "xdg-open"), []byte("#!/nowhere/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	says(openBrowser("http://localhost"), "no such file")
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	c := &cobra.Command{}
	c.SetOut(terminal)
	says((&tableFlags{xlsx: true}).writeOutput(c, nil), "a workbook is nothing for a terminal")
}
