package book

// A Note is something that a reader took a table to mean and that the table
// does not say by itself.
type Note struct {
	// File, Line, Column and Cell are where, as in an [Error].
	File         string
	Line, Column int
	Cell         string

	// Message says what was understood.
	Message string

	// Settle is empty where the reading cannot well be wrong. Else it is what
	// settles the matter in a problem file: within recipes: {file: ...}, such as
	// decimal: comma or columns: {rating: label}; or by itself, units: {pinch: 0.3 g}.
	Settle string

	// Doubt is whether it may well be wrong and nothing but the table settles it.
	Doubt bool

	// Asked is the column, and Taken the role that it was given, where the question is
	// what a column means. Word and Same are two spellings that are taken for one
	// ingredient. Each is empty where the note is about something else,
	// and so is Row.
	Asked      string
	Taken      Role
	Word, Same string

	// Row is a recipe that may be none, and Left whether it is left out.
	Row  string
	Left bool
}

// String returns the note as an error is written, with its place.
func (n Note) String() string {
	e := Error{File: n.File, Line: n.Line, Column: n.Column, Cell: n.Cell, Message: n.Message}
	return e.Error()
}
