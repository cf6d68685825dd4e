package schema

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed reference.md
var opening string

// Reference returns docs/problem.md.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(opening)
	all := append([]*Section{Problem}, Sections()...)
	for k, s := range all {
		s.reference(&b, all[:k])
	}
	return []byte(b.String())
}

// like returns the section among others with which s shares the most keys, if these
// are more than half of its own and of the other's, and at least three. Shared is a key
// that differs in its example alone.
func (s *Section) like(others []*Section) (like *Section, shared []string) {
	for _, other := range others {
		var both []string
		for _, k := range s.Keys {
			if at := slices.Index(other.Names(), k.Name); at >= 0 {
				if o := other.Keys[at]; o.Type.words == k.Type.words && o.Default == k.Default && o.About == k.About {
					both = append(both, k.Name)
				}
			}
		}
		if n := len(both); n >= 3 && 2*n > len(s.Keys) && 2*n > len(other.Keys) && n > len(shared) {
			like, shared = other, both
		}
	}
	return like, shared
}

// reference writes a section, after others. Keys that another has, too, stand there.
func (s *Section) reference(b *strings.Builder, before []*Section) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", s.ID, s.About)
	keys := s.Keys
	if like, shared := s.like(before); like != nil {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return slices.Contains(shared, k.Name) })
		without := slices.DeleteFunc(like.Names(), func(name string) bool { return slices.Contains(s.Names(), name) })
		fmt.Fprintf(b, "\nIt has the keys of [%s](#%s)", like.ID, like.Slug())
		if len(without) > 0 {
			fmt.Fprintf(b, " but %s", quoted(without))
		}
		if len(keys) > 0 {
			b.WriteString(", and:\n")
		} else {
			b.WriteString(".\n")
		}
	}
	s.table(b, keys)
	s.laws(b)
}

// table writes keys. Where none has a default there is no column of defaults.
func (s *Section) table(b *strings.Builder, keys []Key) {
	if len(keys) == 0 {
		return
	}
	head, rule, defaults := "| key | type | default | what it is | example |", "| --- | --- | --- | --- | --- |", true
	if !slices.ContainsFunc(keys, func(k Key) bool { return k.Default != "" }) {
		head, rule, defaults = "| key | type | what it is | example |", "| --- | --- | --- | --- |", false
	}
	fmt.Fprintf(b, "\n%s\n%s\n", head, rule)
	for _, k := range keys {
		cells := []string{"`" + k.Name + "`", k.Type.words, k.Default, k.About, "`" + k.alone() + "`"}
		if !defaults {
			cells = slices.Delete(cells, 2, 3)
		}
		for c, cell := range cells {
			cells[c] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// alone returns the example without what stands beside the key.
func (k Key) alone() string {
	text := strings.TrimSuffix(strings.TrimPrefix(k.Example, "{"), "}")
	depth, quote, from := 0, rune(0), 0
	for at, c := range text + "," {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 0:
			if entry := strings.TrimSpace(text[from:at]); strings.HasPrefix(entry, k.Name+":") {
				return entry
			}
			from = at + 1
		}
	}
	panic("the example of " + k.Name + " does not have it: " + k.Example)
}

// quoted returns keys as code, those of "a b" with a stroke between.
func quoted(keys []string) string {
	words := make([]string, len(keys))
	for k, key := range keys {
		words[k] = "`" + strings.ReplaceAll(key, " ", "`/`") + "`"
	}
	return strings.Join(words, ", ")
}

// laws writes which keys must, may or may not stand together.
func (s *Section) laws(b *strings.Builder) {
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
