package compile

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"kir/internal/config/schema"
)

//go:embed reference.md
var referenceOpening string

// reference returns docs/problem.md.
func reference(d schema.Description) []byte {
	var b strings.Builder
	b.WriteString(referenceOpening)
	all := append(schema.Sections{schema.Problem}, d.Sections()...)
	for k, s := range all {
		writeSection(&b, s, all[:k])
	}
	return []byte(b.String())
}

// sectionLike returns the section among others with which s shares the most keys, if these
// are at least two, more than half of its own, and at least half of the other's. Shared is a
// key that differs in its example alone.
func sectionLike(s *schema.Section, others schema.Sections) (like *schema.Section, shared []string) {
	for _, other := range others {
		var both []string
		for _, k := range s.Keys {
			if at := slices.Index(other.Names(), k.Name); at >= 0 {
				if o := other.Keys[at]; o.Type.Words == k.Type.Words && o.Default == k.Default && o.About == k.About {
					both = append(both, k.Name)
				}
			}
		}
		if n := len(both); n >= 2 && 2*n > len(s.Keys) && 2*n >= len(other.Keys) && n > len(shared) {
			like, shared = other, both
		}
	}
	return like, shared
}

// writeSection writes a section, after others. Keys that another has, too, stand there.
func writeSection(b *strings.Builder, s *schema.Section, before schema.Sections) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", s.ID, s.About)
	keys := s.Keys
	if like, shared := sectionLike(s, before); like != nil {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k schema.Key) bool { return slices.Contains(shared, k.Name) })
		without := slices.DeleteFunc(like.Names(), func(name string) bool { return slices.Contains(s.Names(), name) })
		fmt.Fprintf(b, "\nThe section *%s* has the keys of [%s](#%s)", s.ID, like.ID, like.Slug())
		if len(without) > 0 {
			fmt.Fprintf(b, " except %s", quotedKeys(without))
		}
		if len(keys) > 0 {
			b.WriteString(", and these keys:\n")
		} else {
			b.WriteString(".\n")
		}
	}
	writeKeys(b, keys)
	writeLaws(b, s)
}

// writeKeys writes keys. Where none has a default there is no column of defaults.
func writeKeys(b *strings.Builder, keys []schema.Key) {
	if len(keys) == 0 {
		return
	}
	head, rule, defaults := "| key | type | default | meaning | example |", "| --- | --- | --- | --- | --- |", true
	if !slices.ContainsFunc(keys, func(k schema.Key) bool { return k.Default != "" }) {
		head, rule, defaults = "| key | type | meaning | example |", "| --- | --- | --- | --- |", false
	}
	fmt.Fprintf(b, "\n%s\n%s\n", head, rule)
	for _, k := range keys {
		cells := []string{"`" + k.Name + "`", k.Type.Words, k.Default, k.About, "`" + exampleOf(k) + "`"}
		if !defaults {
			cells = slices.Delete(cells, 2, 3)
		}
		for c, cell := range cells {
			cells[c] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// exampleOf returns the example of a key without what stands beside the key.
func exampleOf(k schema.Key) string {
	text := k.Form()
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

// quotedKeys returns keys as code, those of "a b" with a stroke between.
func quotedKeys(keys []string) string {
	words := make([]string, len(keys))
	for k, key := range keys {
		words[k] = "`" + strings.ReplaceAll(key, " ", "`/`") + "`"
	}
	return strings.Join(words, ", ")
}

// writeLaws writes which keys must, may or may not stand together.
func writeLaws(b *strings.Builder, s *schema.Section) {
	var laws, required []string
	if len(s.Required) > 0 {
		required = append(required, quotedKeys(s.Required))
	}
	if len(s.ExactlyOneOf) > 0 {
		required = append(required, "exactly one of "+quotedKeys(s.ExactlyOneOf))
	}
	if len(s.AtLeastOneOf) > 0 {
		required = append(required, "at least one of "+quotedKeys(s.AtLeastOneOf))
	}
	if len(required) > 0 {
		laws = append(laws, "Required keys of *"+s.ID+"*: "+strings.Join(required, "; ")+".")
	}
	for _, k := range s.Keys {
		if others := s.Excludes[k.Name]; others != "" {
			laws = append(laws, "`"+k.Name+"` cannot be combined with "+quotedKeys(strings.Fields(others))+".")
		}
	}
	for _, k := range s.Keys {
		if other := s.Requires[k.Name]; other != "" {
			laws = append(laws, "`"+k.Name+"` requires `"+other+"`.")
		}
	}
	if len(laws) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(laws, " "))
	}
}
