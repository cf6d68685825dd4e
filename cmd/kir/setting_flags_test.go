package main

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// TestSettingFlags: a setting in a hint, as flags, says the same as in a problem file, whatever its names are.
func TestSettingFlags(t *testing.T) {
	names := []string{"rating", "Salt, g", `5" pipe`, "Größe", "a: b", "a=b", "{a}", "[a]", "it's", "row 7", "$HOME", `back\slash`, "yes"}
	for _, name := range names {
		for _, want := range []dataset.Layout{
			{Columns: map[string]dataset.Role{name: dataset.LabelColumn}},
			{Names: map[string]string{name: "Gin (2)"}},
			{Without: []string{name}},
			{Including: []string{name}},
			{Sheet: name},
			{Decimal: measure.DecimalComma},
		} {
			fix := dataset.Fix{Layout: want, Effect: "leaves it out"}
			e := dataset.AddFixes(&inputerr.Error{Message: "x", Hint: "write a number"}, fix)
			if err := replaceSettingsByFlags(e); !strings.Contains(err.Error(), "write a number; --") {
				t.Fatal(err)
			}
			flag := strings.TrimSuffix(strings.TrimPrefix(e.Hint, "write a number; "), " leaves it out")
			var f layoutFlags
			c := &cobra.Command{}
			f.addTo(c)
			if err := c.ParseFlags(shellWords(flag)); err != nil {
				t.Errorf("%s is %s: %v", fix.Setting(), flag, err)
				continue
			}
			if got, err := f.buildLayout(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %s, which says %s (%v)", fix.Setting(), flag, got.YAML(), err)
			}
		}
	}
}

// shellPieces matches what a shell takes together: plain text, and text in quotation marks of one kind.
var shellPieces = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^'"\\ ]+| +`)

// shellWords splits a command line as a shell does.
func shellWords(line string) (words []string) {
	word, some := "", false
	for _, piece := range shellPieces.FindAllString(line, -1) {
		switch piece[0] {
		case ' ':
			if some {
				words = append(words, word)
			}
			word, some = "", false
			continue
		case '\'':
			piece = piece[1 : len(piece)-1]
		case '"':
			piece = regexp.MustCompile(`\\(.)`).ReplaceAllString(piece[1:len(piece)-1], "$1")
		case '\\':
			piece = piece[1:]
		}
		word, some = word+piece, true
	}
	if some {
		words = append(words, word)
	}
	return words
}
