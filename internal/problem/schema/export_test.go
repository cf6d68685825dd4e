package schema

// Sections returns all sections, the whole file first.
func Sections() []*Section { return append([]*Section{Problem}, sections()...) }

// Rule returns the JSON Schema of a type.
func (t Type) Rule() map[string]any { return t.rule }

// Slug returns the name of a section in the JSON Schema.
func (s *Section) Slug() string { return slug(s.ID) }
