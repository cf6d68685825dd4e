package problem

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandsOf returns the commands of a problem in a directory whose programs are given
// words.
func commandsOf(t *testing.T, dir string, words ...[]string) []*Command {
	t.Helper()
	all, err := Programs(t.Context(), filepath.Join(dir, "problem.yaml"), programProblem(words...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func programProblem(words ...[]string) []byte {
	text := "total: 20\ningredients: [Gin, Vodka]\nsparsity: {uniform: [1, 2]}\nproperties:\n"
	for k, of := range words {
		quoted := make([]string, len(of))
		for w, word := range of {
			quoted[w] = strconv.Quote(word)
		}
		text += fmt.Sprintf("  p%d: {program: {command: [%s]}}\n", k, strings.Join(quoted, ", "))
	}
	return []byte(text)
}

// Consent is to one list of words, in one directory, with the contents of the program and
// of the files that words name: whatever differs in any of it has another key.
func TestConsentKeys(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	long := "python3 scorer.py --model models/fragrance-2026-11.json --harmless"
	lists := [][]string{
		{"sh"}, {"sh", "a b"}, {"sh", "a", "b"}, {"sh", "a\nb"}, {"sh", `a" "b`}, {"sh", "a, b"},
		{"sh", "-c", long}, {"sh", "-c", long + "; rm -rf ~"}, {"sh", "-c", long[:60]}, {"sh", "1:a", "b"}, {"sh", "1:a1:b"}, {"sh", "one", "two"}, {"sh", "two", "one"},
	}
	keys := make(map[string]string)
	see := func(what string) {
		t.Helper()
		for _, d := range []string{dir, other} {
			for k, c := range commandsOf(t, d, lists...) {
				of := fmt.Sprint(what, d, lists[k])
				if was, ok := keys[c.Key()]; ok {
					t.Errorf("%s has the key of %s", of, was)
				}
				keys[c.Key()] = of
			}
		}
	}
	see("no files ")
	lists = [][]string{{"sh", "one", "two"}, {"sh", "two", "one"}}
	for _, d := range []string{dir, other} {
		write(d, "one", "1")
	}
	see("a first file ")
	for _, d := range []string{dir, other} {
		if err := os.Rename(filepath.Join(d, "one"), filepath.Join(d, "two")); err != nil {
			t.Fatal(err)
		}
	}
	see("the same under the other name ")
	for _, d := range []string{dir, other} {
		write(d, "two", "2")
	}
	see("other contents ")

	// The same is the same, by another way to the directory and in another problem.
	write(dir, "score.sh", "cat")
	link := filepath.Join(other, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	a, b := commandsOf(t, dir, []string{"./score.sh", "x"})[0], commandsOf(t, link, []string{"sh"}, []string{"./score.sh", "x"})[1]
	write(dir, "elsewhere", "1")
	if c := commandsOf(t, dir, []string{"./score.sh", "x"})[0]; c.Key() != a.Key() {
		t.Error("a file that no word names has a part in the key")
	}
	if b.Key() != a.Key() {
		t.Error("a program is another by a link to its directory")
	}
	if err := a.unchanged(); err != nil {
		t.Error(err)
	}
	write(dir, "score.sh", "cat; rm -rf ~")
	if err := a.unchanged(); err == nil {
		t.Error("a changed program is as it was")
	}
}

// The message has every word of every command, whole and on a line of its own, and
// nothing in a word can end its line or hide what follows.
func TestConsentShowsAll(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	words := [][]string{
		{"sh", "-c", strings.Repeat("a long script ", 20) + "to its end"},
		{"sh", "a\nb", "\x1b[2J", "\u202ecod.exe", "a b"},
	}
	dir := t.TempDir()
	_, err := Load(t.Context(), filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words...)})
	var consent *ConsentError
	if !errors.As(err, &consent) || len(consent.Commands) != 2 {
		t.Fatal(err)
	}
	var want []string
	for _, of := range words {
		want = append(want, "  in "+strconv.Quote(dir))
		for _, word := range of {
			want = append(want, "    "+strconv.Quote(word))
		}
	}
	if lines := strings.Split(err.Error(), "\n"); !slices.Equal(lines[1:], want) {
		t.Errorf("it says\n%s", err)
	}

	// Nothing but what was allowed is.
	first := consent.Commands[0].Key()
	ctx := AllowCommands(t.Context(), func(c *Command) bool { return c.Key() == first })
	if _, err = Load(ctx, filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words...)}); !errors.As(err, &consent) || len(consent.Commands) != 1 || consent.Commands[0].Words[1] != "a\nb" {
		t.Errorf("with one of two allowed: %v", err)
	}
	p, err := Load(ctx, filepath.Join(dir, "problem.yaml"), Options{Text: programProblem(words[0])})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
