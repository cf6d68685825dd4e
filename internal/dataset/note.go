package dataset

// A Note is a reader's interpretation of something that the table leaves open.
type Note struct {
	// File, Line, Column and Cell are the position, as in an [Error].
	File         string
	Line, Column int
	Cell         string

	// Message states the interpretation.
	Message string

	// Setting is what to write in a problem file to settle the matter. It is empty if the
	// interpretation is almost certainly right. It belongs within recipes: {file: ...}, such as
	// decimal: comma or columns: {rating: label}; or stands by itself, such as units: {pinch: 0.3
	// g}.
	Setting string

	// Doubtful reports that the interpretation may well be wrong and only a change of the table
	// settles it.
	Doubtful bool

	// AmbiguousColumn is the column whose meaning is in question, and AssumedRole the role that it was
	// given. Spelling and OtherSpelling are taken for one ingredient. Each is empty if the note is about
	// something else, and so is Row.
	AmbiguousColumn         string
	AssumedRole             Role
	Spelling, OtherSpelling string

	// Origin reports that the note asks whether a column is set or measured, or says that columns are set.
	Origin bool

	// Row is a row that may not be a recipe, and Left reports whether it is left out.
	Row  string
	Left bool
}

// String returns the note in the form of an error, with its position.
func (n Note) String() string {
	e := Error{File: n.File, Line: n.Line, Column: n.Column, Cell: n.Cell, Message: n.Message}
	return e.Error()
}
