package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// TestManPages writes the man pages, one a command, and reads them. With KIR_MAN they are
// left in that directory: so packages get them, as the program itself need not carry what
// writes them.
func TestManPages(t *testing.T) {
	dir := os.Getenv("KIR_MAN")
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRootCommand()
	root.DisableAutoGenTag = true
	released := time.Unix(0, 0)
	if os.Getenv("KIR_MAN") != "" {
		released = time.Now()
	}
	commands := forMan(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "kir", Manual: "kir", Date: &released}, dir); err != nil {
		t.Fatal(err)
	}
	for path, c := range commands {
		file := filepath.Join(dir, strings.ReplaceAll(path, " ", "-")+".1")
		page, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		text := string(page)
		if groff, err := exec.LookPath("groff"); err == nil {
			command := exec.Command(groff, "-man", "-Kutf8", "-Tutf8", "-ww", "-rLL=500n", "-P-cbou", file)
			var warnings strings.Builder
			command.Stderr = &warnings
			shown, err := command.Output()
			if err != nil || warnings.Len() > 0 {
				t.Errorf("%s: groff: %v %s", file, err, warnings.String())
			}
			text = string(shown)
		}
		for _, line := range strings.Split(c.Example, "\n") {
			if !strings.Contains(text, strings.TrimSpace(line)) {
				t.Errorf("%s lacks the example %q", file, line)
			}
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s lacks --%s", file, f.Name)
			}
		})
	}
	release, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var listed, written []string
	for _, m := range regexp.MustCompile(`\bman/(\S+\.1)\.gz`).FindAllStringSubmatch(string(release), -1) {
		listed = append(listed, m[1])
	}
	for path := range commands {
		written = append(written, strings.ReplaceAll(path, " ", "-")+".1")
	}
	slices.Sort(listed)
	slices.Sort(written)
	if !slices.Equal(listed, written) {
		t.Errorf("homebrew_casks of .goreleaser.yaml lists the pages\n%q, and the commands have\n%q", listed, written)
	}
	if len(commands) < 15 {
		t.Errorf("there are %d pages", len(commands))
	}
}

// forMan writes the texts of all commands as Markdown, which the generator expects: what
// is set in by spaces stays as it is, and no character has another meaning. It returns the
// commands by their paths.
func forMan(c *cobra.Command) map[string]*cobra.Command {
	escape := regexp.MustCompile("[\\\\*_<>`\\[\\]|#]")
	escaped := func(text string) string { return escape.ReplaceAllString(text, `\$0`) }
	var long strings.Builder
	inset := false
	for _, line := range strings.Split(c.Long, "\n") {
		was := inset
		if line != "" {
			inset = strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		}
		if inset != was {
			long.WriteString("\n")
		}
		if inset {
			long.WriteString("    " + line + "\n")
		} else {
			long.WriteString(escaped(line) + "\n")
		}
	}
	c.Long = long.String()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		f.Usage = escaped(usage)
	})
	all := map[string]*cobra.Command{c.CommandPath(): c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			for path, below := range forMan(sub) {
				all[path] = below
			}
		}
	}
	return all
}
