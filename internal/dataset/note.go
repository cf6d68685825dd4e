package dataset

// A Note states how the reader interpreted something that the table leaves open.
type Note struct {
	// File, Line, Column and Cell are the position in the table, as in an [Error].
	File         string
	Line, Column int
	Cell         string

	// Message states the interpretation.
	Message string

	// Setting is the text to write in a problem file to confirm the interpretation. It is an entry
	// within recipes: {file: ...}, such as decimal: comma or columns: {rating: label}, or an entry
	// of the file itself, such as units: {pinch: 0.3 g}. It is empty if the interpretation is
	// almost certainly right.
	Setting string

	// Doubtful reports that the interpretation may well be wrong and that only a change of the
	// table settles the question.
	Doubtful bool

	// AmbiguousColumn is the name of a column whose meaning is uncertain. It is empty if the note is
	// not about a column.
	AmbiguousColumn string

	// AssumedRole is the role that the reader assumed for AmbiguousColumn. LikelyRole is the role that
	// the column most likely has if it has another. It may be empty.
	AssumedRole, LikelyRole Role

	// IsLikely reports that the role assumed for AmbiguousColumn is much likelier than another one.
	IsLikely bool

	// Spelling and OtherSpelling are two names that the reader takes for one ingredient. They are
	// empty if the note is not about spellings.
	Spelling, OtherSpelling string

	// AboutOrigin reports that the note is about whether trials set or measure the values of a column;
	// see the type [Origin].
	AboutOrigin bool

	// QuestionableRow is the name of a row that may not be a recipe. It is empty if the note is not about such a
	// row.
	QuestionableRow string

	// RowLeftOut reports whether the row Row is left out.
	RowLeftOut bool
}

// String returns the position and the message of the note, in the format of an error message.
func (n Note) String() string {
	e := Error{File: n.File, Line: n.Line, Column: n.Column, Cell: n.Cell, Message: n.Message}
	return e.Error()
}
