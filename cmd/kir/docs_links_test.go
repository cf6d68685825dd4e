package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	linkTo   = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	inCode   = regexp.MustCompile("`([^`\n]+)`")
	anyFlag  = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	wordPart = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// anchors returns what the headings of a document are linked to by.
func anchors(text string) []string {
	var all []string
	_, prose := blocks(text)
	for _, m := range heading.FindAllStringSubmatch(prose, -1) {
		all = append(all, strings.ReplaceAll(strings.ToLower(notSlug.ReplaceAllString(m[1], "")), " ", "-"))
	}
	return all
}

// TestLinks: every link within the project leads to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	all := documents(t)
	for path, text := range all {
		_, prose := blocks(text)
		for _, m := range linkTo.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(m[1], "://") {
				continue // there may be no network
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			if file == "" {
				file = filepath.Base(path)
			}
			target := filepath.ToSlash(filepath.Join(filepath.Dir(path), file))
			if _, err := os.Stat("../../" + target); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
			if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s links to %s, which has no such heading: it has %q", path, m[1], anchors(all[target]))
			}
		}
	}
}

// foreign are flags of other programs that documents name.
var foreign = []string{"no-sandbox"}

// TestCommandsShown: every command that a document names is one, with the flags that
// it has, also where it is not run; every flag is one of some command.
func TestCommandsShown(t *testing.T) {
	flags := slices.Clone(foreign)
	for _, c := range append(newRootCommand().Commands(), newRootCommand()) {
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	}
	for path, text := range documents(t) {
		if path == "CHANGELOG.md" {
			continue // it tells of flags that are gone
		}
		all, prose := blocks(text)
		var shown []string
		for _, b := range all {
			for _, line := range commands(b.text) {
				shown = append(shown, strings.TrimPrefix(line, "$ "))
			}
		}
		for _, m := range inCode.FindAllStringSubmatch(prose, -1) {
			shown = append(shown, m[1])
			for _, f := range anyFlag.FindAllStringSubmatch(m[1], -1) {
				if first, _, _ := strings.Cut(m[1], " "); (first == "kir" || strings.HasPrefix(first, "--")) && !slices.Contains(flags, f[1]) {
					t.Errorf("%s: there is no flag --%s: `%s`", path, f[1], m[1])
				}
			}
		}
		for _, command := range shown {
			command = strings.Replace(command, "go run ./cmd/kir", "kir", 1)
			for part := range strings.SplitSeq(command, "&&") {
				if err := commandShown(strings.TrimSpace(part)); err != nil {
					t.Errorf("%s: %s: %v", path, part, err)
				}
			}
		}
	}
}

// commandShown says what is wrong with the words of a command. What stands for
// anything, as in [--json] or ..., is not looked at.
func commandShown(text string) error {
	text, _, _ = strings.Cut(text, " #")
	if !strings.HasPrefix(text, "kir ") || strings.ContainsAny(text, "[|>…(") || strings.Contains(text, "...") {
		return nil
	}
	var words []string
	for _, w := range wordPart.FindAllString(text, -1)[1:] {
		words = append(words, strings.Trim(w, `'"`))
	}
	if words[0] == "COMMAND" || words[0] == "help" || words[0] == "--help" {
		return nil
	}
	c, rest, err := newRootCommand().Find(words)
	if err != nil {
		return err
	}
	if c.Parent() == nil {
		return cobra.NoArgs(c, rest)
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil && !strings.Contains(err.Error(), "needs an argument") {
		return err
	}
	return nil
}
