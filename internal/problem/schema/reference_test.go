package schema

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed reference.md
var opening string

// Reference returns docs/problem.md.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(opening)
	Problem.reference(&b)
	for _, s := range Sections() {
		s.reference(&b)
	}
	return []byte(b.String())
}

// reference writes a section.
func (s *Section) reference(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | type | default | what it is | example |\n| --- | --- | --- | --- | --- |\n", s.ID, s.About)
	for _, k := range s.Keys {
		example := k.Example
		if s == Problem {
			example = s.Form(k.Name)
		}
		cells := []string{"`" + k.Name + "`", k.Type.words, k.Default, k.About, "`" + example + "`"}
		for c, cell := range cells {
			cells[c] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	quoted := func(keys []string) string {
		words := make([]string, len(keys))
		for k, key := range keys {
			words[k] = "`" + strings.ReplaceAll(key, " ", "`/`") + "`"
		}
		return strings.Join(words, ", ")
	}
	var laws []string
	if len(s.need) > 0 {
		laws = append(laws, "Needed: "+quoted(s.need)+".")
	}
	if len(s.one) > 0 {
		laws = append(laws, "Exactly one of "+quoted(s.one)+".")
	}
	if len(s.some) > 0 {
		laws = append(laws, "At least one of "+quoted(s.some)+".")
	}
	for _, k := range s.Keys {
		if others := s.alone[k.Name]; others != "" {
			laws = append(laws, "`"+k.Name+"` does not stand beside "+quoted(strings.Fields(others))+".")
		}
	}
	for _, k := range s.Keys {
		if other := s.with[k.Name]; other != "" {
			laws = append(laws, "`"+k.Name+"` needs `"+other+"`.")
		}
	}
	if len(laws) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(laws, " "))
	}
}
