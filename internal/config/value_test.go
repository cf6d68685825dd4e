package config

import (
	"strings"
	"testing"

	"kir/internal/config/yaml"
)

// TestTexts checks that one text and a list of texts are read alike, each with its place, and that anything
// else in a list is an error.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ text, want, says string }{
		{"citrus", "citrus", ""},
		{"[citrus, 7]", "citrus, 7", ""},
		{"[]", "", ""},
		{"[citrus, [7]]", "", "the value is a list"},
		{"[citrus, '']", "", "the value is empty"},
		{"{of: citrus}", "", "the value is a mapping"},
	} {
		n, err := yaml.Parse("problem.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var field Texts
		err = textsReader(&field, "the value")(n)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, not %q", c.text, err, c.says)
			}
			continue
		}
		var texts []string
		for _, one := range field.Value {
			if one.Node.Text != one.Value {
				t.Errorf("%s: the place of %q is that of %q", c.text, one.Value, one.Node.Text)
			}
			texts = append(texts, one.Value)
		}
		if got := strings.Join(texts, ", "); err != nil || got != c.want || field.Node != n {
			t.Errorf("%s: %q, %v", c.text, got, err)
		}
	}
}
