package compile

import (
	"maps"
	"testing"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/measure"
)

// What a reader writes to settle its guesses is read back as that.
func TestTableAt(t *testing.T) {
	for _, name := range []string{"rating", "Größe", "a: b", "#x", `"q"`, "it's", "null", "Yes", "1e3", "12", "-", "a, b", "{a}", "[a", "*x", "&x", "!x", "%x", "@x", "a\nb", "~", "\u200b", "x\u0085y", "a #b", "😀", "\\", "a\x7f"} {
		said := dataset.Layout{Sheet: name, Encoding: "windows-1252", Delimiter: "semicolon", Decimal: measure.DecimalComma, Columns: map[string]dataset.Role{dataset.NormalizeName(name): dataset.LabelColumn, "b": dataset.IgnoredColumn}}
		if dataset.NormalizeName(name) == "" {
			said.Columns = nil
		}
		text := dataset.TableYAML("recipes", name, said)
		root, err := yaml.Parse("problem.yaml", []byte("total: 5\n"+text+"\n"))
		if err != nil {
			t.Errorf("%q: %s: %v", name, text, err)
			continue
		}
		file, got, err := config.ReadTableNode(root.Get("recipes"), true)
		if err != nil {
			t.Errorf("%q: %s: %v", name, text, err)
			continue
		}
		if file.Text != name || got.Sheet != name || got.Encoding != said.Encoding || got.Delimiter != said.Delimiter || got.Decimal != said.Decimal || !maps.Equal(got.Columns, said.Columns) {
			t.Errorf("%q: %s is read as %q, %+v", name, text, file.Text, got)
		}
	}
}
