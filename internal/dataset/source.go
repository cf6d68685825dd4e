package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/tablefile"
)

// A source is an opened file that contains a table.
type source struct {
	ctx             context.Context       // reading stops when ctx ends
	file            string                // name of the file, for messages
	rows            tablefile.Rows        // all rows of the table
	firstRows       func() tablefile.Rows // returns the first rows anew; the format of the table is guessed from them
	delimiter       rune                  // delimiter of the columns of a text file; 0 for a workbook
	sheet           string                // name of the sheet that is read from a workbook
	sheets          []string              // names of all sheets of a workbook
	allowsShortRows bool                  // whether a row may be shorter than the header
	notes           []Note                // interpretations recorded so far
	notedSet        map[Note]bool         // set of the first notedCount notes, which finds repeated notes
	notedCount      int                   // number of notes in notedSet
	guessedLayout   Layout                // layout with those guesses so far that may well be wrong
	withoutLines    map[int]bool          // by line of a row that the layout leaves out by its line: whether there is such a row
	hasBlocks       bool                  // whether the rows were made of blocks, each of which is a recipe
	unknownTexts    []string              // texts that the layout lists for values that are not known
	brokenCells     []*Error              // errors of cells whose formula has no result
	asides          []asideCells          // rows or columns that describe the ingredients
}

// maxHeadBytes is the maximum number of bytes at the beginning of a text file from which the format
// is guessed.
const maxHeadBytes = tablefile.MaxRowBytes

// nonTableFormats are formats of files that are not read as tables. The field magic is the first
// bytes of such a file, what names the format, and instead says what to do.
var nonTableFormats = []struct{ magic, what, instead string }{
	{"\xd0\xcf\x11\xe0", "an old Excel file (.xls), or one with a password", "save it as .xlsx without a password, or as CSV"},
	{"%PDF", "a PDF file", "tables are read from CSV, .xlsx and .ods"},
	{"\x1f\x8b", "a compressed file", "unpack it"},
	{"PAR1", "a Parquet file", "tables are read from CSV, .xlsx and .ods"},
	{"{\\rtf", "an RTF file", "tables are read from CSV, .xlsx and .ods"},
}

// openSource opens a table and determines the format of the file from its first bytes. If the
// layout names no sheet of a workbook, it chooses the one with the greatest weight.
func openSource(r io.Reader, file string, l Layout, weigh func(*tablefile.Sheet) int) (*source, error) {
	ctx := contextOf(r)
	head, err := io.ReadAll(io.LimitReader(r, maxHeadBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	whole := io.MultiReader(bytes.NewReader(head), r)
	for _, f := range nonTableFormats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return nil, &Error{File: file, Message: "this is " + f.what, Hint: f.instead}
		}
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || tablefile.IsFlatDocument(head[:min(len(head), 1<<14)]) {
		w, err := tablefile.OpenWorkbook(ctx, whole, file)
		if err != nil {
			return nil, err
		}
		return openSheet(w, l, weigh)
	}
	if l.Sheet != "" {
		return nil, &Error{File: file, Message: "the file has no sheets", Hint: "leave sheet out: it is for .xlsx and .ods"}
	}
	full := len(head) < maxHeadBytes
	c, err := tablefile.FindCharset(head, full, l.Encoding)
	if err != nil {
		return nil, &Error{File: file, Message: err.Error()}
	}
	text := c.DecodeHead(head, full)
	s := &source{ctx: ctx, file: file}
	if c.Guessed {
		s.notes = append(s.notes, Note{File: file, Line: 1, Column: 1, Message: "the file does not name its encoding; accents and other letters are read as " + c.Name, Setting: Layout{Encoding: c.Name}.YAML()})
		s.guessedLayout.Encoding = c.Name
	}
	if _, err := io.CopyN(io.Discard, whole, int64(c.ByteOrderMarkLength)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all := c.Decode(whole)
	if isJSON(file, text) {
		return nil, &Error{File: file, Message: "this is a JSON file", Hint: "tables are read from CSV, .xlsx and .ods"}
	}
	lines := 0
	mark, length := tablefile.DeclaredDelimiter(text)
	if mark != 0 {
		lines, text = 1, text[length:]
		if _, err := io.CopyN(io.Discard, all, int64(length)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if mark == 0 || l.Delimiter != "" {
		if mark, err = tablefile.FindDelimiter(text, l.Delimiter, leadingResultColumns); err != nil {
			return nil, &Error{File: file, Message: err.Error()}
		}
	}
	s.delimiter = mark
	s.rows = tablefile.NewCSVRows(all, file, mark, lines, c.Decoder != nil)
	s.firstRows = func() tablefile.Rows {
		return tablefile.NewCSVRows(bytes.NewReader(text), file, mark, lines, c.Decoder != nil)
	}
	return s, nil
}

// isJSON reports whether a file contains JSON, according to the extension of its name or, if that
// does not tell, the beginning of the text.
func isJSON(file string, text []byte) bool {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".jsonld":
		return true
	case ".csv", ".tsv", ".tab", ".txt":
		return false
	}
	text = bytes.TrimSpace(text)
	return bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")) && bytes.ContainsAny(text[1:min(len(text), 100)], "{")
}

// openSheet opens the sheet of a workbook that the layout names. If the layout names none, it chooses the one with the greatest weight.
func openSheet(w *tablefile.Workbook, l Layout, weigh func(*tablefile.Sheet) int) (*source, error) {
	names := w.Names
	if len(names) > tablefile.MaxSheets {
		return nil, w.Errorf("save the sheet as CSV", "the workbook has more than %d sheets", tablefile.MaxSheets)
	}
	s := &source{ctx: w.Ctx, file: w.File, allowsShortRows: true}
	var chosen *tablefile.Sheet
	var err error
	if l.Sheet != "" {
		at := slices.IndexFunc(names, func(name string) bool { return NormalizeName(name) == NormalizeName(l.Sheet) })
		if at < 0 {
			hint := inputerr.DidYouMean(l.Sheet, names)
			if hint == "" {
				hint = "there are " + inputerr.List(names, 12)
			}
			return nil, w.Errorf(hint, "the workbook has no sheet %s", inputerr.Quote(l.Sheet))
		}
		if chosen, err = w.ReadNamedSheet(names[at]); err != nil {
			return nil, err
		}
	} else if chosen, err = s.chooseSheet(w, sheetsWithout(names, l.Without), weigh); err != nil {
		return nil, err
	}
	s.rows, s.firstRows, s.brokenCells = chosen.Rows(), chosen.Rows, chosen.BrokenCells
	s.sheet, s.sheets = chosen.Name, names
	return s, nil
}

// sheetsWithout returns the names of sheets that a layout does not leave out, or all names if it leaves out all.
func sheetsWithout(names, without []string) []string {
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(without, func(other string) bool { return NormalizeName(other) == NormalizeName(name) })
	})
	if len(left) == 0 {
		return names
	}
	return left
}

// surelyMore is how many times the weight of all other sheets the chosen one has if it is not asked about.
const surelyMore = 4

// chooseSheet returns the sheet with the greatest weight, which is 1 or more; of several the first. If the workbook has
// several sheets, it adds a note.
func (s *source) chooseSheet(w *tablefile.Workbook, names []string, weigh func(*tablefile.Sheet) int) (*tablefile.Sheet, error) {
	var chosen *tablefile.Sheet
	most, second := 0, 0
	for _, name := range names {
		sheet, err := w.ReadNamedSheet(name)
		if err != nil {
			return nil, err
		}
		if len(sheet.Cells) == 0 {
			continue
		}
		if weight := weigh(sheet); weight > most {
			chosen, most, second = sheet, weight, most
		} else {
			second = max(second, weight)
		}
	}
	if chosen == nil {
		return nil, w.Errorf("begin with a row that names the columns", "the workbook is empty")
	}
	if len(names) > 1 {
		note := Note{File: s.file, Message: "the sheet " + inputerr.Quote(chosen.Name) + " is read, of " + inputerr.List(names, 12)}
		if second*surelyMore > most {
			s.guessedLayout.Sheet = chosen.Name
			note.Setting = Layout{Sheet: chosen.Name}.YAML()
		}
		s.notes = append(s.notes, note)
	}
	return chosen, nil
}

// firstWith returns a greater weight for a sheet with a first row that suits accepts, which is sure to be chosen, than for
// others.
func firstWith(s *tablefile.Sheet, suits func(row []string) bool) int {
	if slices.ContainsFunc(s.Cells[:min(len(s.Cells), maxHeaderSearchRows)], suits) {
		return 2 * surelyMore
	}
	return 1
}

// weightOf returns how much speaks for a sheet with recipes: one and the number of numbers in its first rows, three times
// as much for each role that the names in them suggest.
func weightOf(s *tablefile.Sheet) int {
	weight := 1
	roles := make(map[Role]bool)
	for r, row := range s.Cells[:min(len(s.Cells), maxValueRows)] {
		for _, text := range row {
			if text = strings.TrimSpace(text); isNumberText(text) {
				weight++
				continue
			}
			for _, role := range []Role{RecipeColumn, IngredientColumn, AmountColumn} {
				if r < maxHeaderSearchRows && matchesRole(text, role) {
					roles[role] = true
				}
			}
		}
	}
	for range roles {
		weight *= 3
	}
	return weight
}

// readFile opens the file at path and returns what read makes of it. Reading stops when ctx ends.
func readFile[T any](ctx context.Context, path string, read func(io.Reader) (T, error)) (T, error) {
	in, err := OpenFile(ctx, path)
	if err != nil {
		var none T
		return none, err
	}
	defer in.Close() // read only: a failure to close loses nothing
	return read(in)
}

// OpenFile opens a file, which can be read until ctx ends. The error is an [*Error] if there is no
// such file, if reading is not permitted, or if the file is a directory.
func OpenFile(ctx context.Context, path string) (io.ReadCloser, error) {
	in, err := file.OpenInput(ctx, path)
	if bad := (*Error)(nil); errors.As(err, &bad) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		e := &Error{File: path, Err: err, Message: "cannot be opened", Hint: err.Error()}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.Message, e.Hint = "no such file", ""
		case errors.Is(err, fs.ErrPermission):
			e.Message, e.Hint = "no permission to read it", ""
		}
		return nil, e
	}
	return WithContext(ctx, in), nil
}

// WithContext returns an open file that can be read until ctx ends. When ctx ends, the functions of
// this package also stop processing what they have read.
func WithContext(ctx context.Context, in io.ReadCloser) io.ReadCloser { return &contextReader{in, ctx} }

// A contextReader is an open file that cannot be read any more once ctx has ended.
type contextReader struct {
	io.ReadCloser
	ctx context.Context
}

func (u *contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.ReadCloser.Read(p)
}

// contextOf returns the context that [WithContext] has attached to a file, or else the background
// context.
func contextOf(r io.Reader) context.Context {
	if u, ok := r.(*contextReader); ok {
		return u.ctx
	}
	return context.Background()
}

// readableRows yields the rows that can be read, at most limit. It skips faulty ones and ends at an error behind which none can
// be read, as reading the whole table reports these.
func readableRows(rows tablefile.Rows, limit int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for seen := 0; seen < limit; {
			row, err := rows.Next()
			if bad := (*Error)(nil); errors.As(err, &bad) && !errors.As(err, new(tablefile.FatalError)) {
				continue
			}
			if err != nil || !yield(row) {
				return
			}
			seen++
		}
	}
}
