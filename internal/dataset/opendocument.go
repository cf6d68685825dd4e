package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
)

// The parts of an OpenDocument file that are read, and the namespaces of their elements.
const (
	odsType     = "application/vnd.oasis.opendocument.spreadsheet"
	odsContent  = "content.xml"
	odsManifest = "META-INF/manifest.xml"

	nsOffice = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
	nsTable  = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
	nsText   = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
)

// deepestElement bounds the nesting of elements.
const deepestElement = 100

// isOpenDocument reports whether an archive is an OpenDocument file rather than an Office one.
func isOpenDocument(archive *zip.Reader) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == name })
	}
	return (has("mimetype") || has(odsContent)) && !has("[Content_Types].xml")
}

// isFlatDocument reports whether a file begins as a flat OpenDocument file.
func isFlatDocument(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("<?xml")) && bytes.Contains(head, []byte(nsOffice))
}

// openDocument returns the part of an OpenDocument file that contains its sheets. It unpacks only
// that part and the one that identifies the file.
func openDocument(archive *zip.Reader) ([]byte, error) {
	if len(archive.File) > mostParts {
		return nil, fmt.Errorf("it has more than %d parts", mostParts)
	}
	parts := make(map[string][]byte)
	left := int64(largestParts)
	for _, f := range archive.File {
		name := path.Clean(f.Name)
		if name != "mimetype" && name != odsManifest && name != odsContent {
			continue
		}
		if _, twice := parts[name]; twice {
			return nil, fmt.Errorf("the part %q is there twice", f.Name)
		}
		part, err := unpack(f, left)
		if err != nil {
			return nil, err
		}
		parts[name], left = part, left-int64(len(part))
	}
	kind, said := parts["mimetype"]
	switch {
	case said && !strings.HasPrefix(strings.TrimSpace(string(kind)), odsType):
		return nil, fmt.Errorf("it is %s, and no spreadsheet", inputerr.Quote(truncate(strings.TrimSpace(string(kind)), 80)))
	case bytes.Contains(parts[odsManifest], []byte("encryption-data")):
		return nil, errors.New("it has a password")
	case parts[odsContent] == nil:
		return nil, fmt.Errorf("it is an OpenDocument file without %s", odsContent)
	}
	return parts[odsContent], nil
}

// A documentReader reads the sheets of an OpenDocument spreadsheet.
type documentReader struct {
	w      *workbook // for its errors
	xml    *xml.Decoder
	depth  int
	tokens int
	cells  int // number of stored cells of all sheets
	text   int // bytes of their texts
	sheets []*sheet
	faults map[string]error // errors of sheets that are too large to store
}

// readDocument reads all sheets of an OpenDocument spreadsheet, from its content or from a flat
// file. Repeated cells, which files write with a count, are counted before they are stored.
func (w *workbook) readDocument(content []byte) error {
	if bytes.Count(content, []byte{'<'}) > mostElements {
		return errors.New("it has too many elements")
	}
	for rest := content; ; {
		start := bytes.IndexByte(rest, '<')
		if start < 0 {
			break
		}
		rest = rest[start:]
		end := bytes.IndexByte(rest, '>')
		if end > longestElement || end < 0 && len(rest) > longestElement {
			return fmt.Errorf("it has an element longer than %d bytes", longestElement)
		}
		if end < 0 {
			break
		}
		rest = rest[end:]
	}
	r := &documentReader{w: w, xml: xml.NewDecoder(bytes.NewReader(content)), faults: make(map[string]error)}
	inBook := false
	for {
		token, err := r.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch {
			case isElement(e.Name, nsOffice, "spreadsheet"):
				inBook = true
			case inBook && isElement(e.Name, nsTable, "table"):
				if err := r.readSheet(e); err != nil {
					return err
				}
			case inBook || isElement(e.Name, nsOffice, "master-styles") || isElement(e.Name, nsOffice, "styles"):
				if err := r.skip(); err != nil {
					return err
				}
			}
		case xml.EndElement:
			inBook = inBook && !isElement(e.Name, nsOffice, "spreadsheet")
		}
	}
	w.names = nil
	for _, s := range r.sheets {
		w.names = append(w.names, s.name)
	}
	w.read = func(name string) (*sheet, error) {
		if err := r.faults[name]; err != nil {
			return nil, err
		}
		at := slices.IndexFunc(r.sheets, func(s *sheet) bool { return s.name == name })
		if at < 0 {
			return nil, w.errorf("there are "+inputerr.List(w.names, 12), "the workbook has no sheet %s", inputerr.Quote(name))
		}
		return r.sheets[at], nil
	}
	return nil
}

// isElement reports whether a name is the given one of a namespace.
func isElement(n xml.Name, space, local string) bool { return n.Local == local && n.Space == space }

// next returns the next token.
func (r *documentReader) next() (xml.Token, error) {
	if r.tokens++; r.tokens%4096 == 0 {
		if err := browsersched.Err(r.w.ctx); err != nil {
			return nil, err
		}
	}
	token, err := r.xml.Token()
	if err != nil {
		return nil, err
	}
	switch token.(type) {
	case xml.StartElement:
		if r.depth++; r.depth > deepestElement {
			return nil, errors.New("elements are nested too deeply")
		}
	case xml.EndElement:
		r.depth--
	}
	return token, nil
}

// eachChild calls what with each direct child of the element that has begun, until that element
// ends. what must read its element to the end.
func (r *documentReader) eachChild(what func(e xml.StartElement) error) error {
	for outside := r.depth - 1; r.depth > outside; {
		token, err := r.next()
		if err != nil {
			return endError(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := what(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// skip reads to the end of the element that has begun.
func (r *documentReader) skip() error {
	for outside := r.depth - 1; r.depth > outside; {
		if _, err := r.next(); err != nil {
			return endError(err)
		}
	}
	return nil
}

// endError returns the error that the file ends within an element.
func endError(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// elementAttribute returns an attribute.
func elementAttribute(e xml.StartElement, space, local string) string {
	for _, a := range e.Attr {
		if isElement(a.Name, space, local) {
			return a.Value
		}
	}
	return ""
}

// repeatCount returns how often a cell or a row is repeated.
func repeatCount(e xml.StartElement, attribute string) (int, error) {
	text := elementAttribute(e, nsTable, attribute)
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s of a sheet is %s", attribute, inputerr.Quote(truncate(text, 20)))
	}
	return min(n, 1<<24), nil // more than a sheet can have of either
}

// readSheet reads a sheet. If the sheet is too large to store, it still reads it to the end.
func (r *documentReader) readSheet(start xml.StartElement) error {
	s := &sheet{name: elementAttribute(start, nsTable, "name"), exacts: make(map[[2]int]bool)}
	if elementAttribute(start, nsTable, "style-name") == "ta_extref" { // a cached copy of another file's sheet
		return r.skip()
	}
	if slices.ContainsFunc(r.sheets, func(o *sheet) bool { return o.name == s.name }) {
		return fmt.Errorf("the sheet %s is there twice", inputerr.Quote(s.name))
	}
	if r.sheets = append(r.sheets, s); len(r.sheets) > mostSheets {
		return fmt.Errorf("it has more than %d sheets", mostSheets)
	}
	cells, text := r.cells, r.text
	blank := 0 // blank rows, which are stored only if another row follows
	var full error
	var rows func(e xml.StartElement) error
	rows = func(e xml.StartElement) error {
		switch {
		case e.Name.Space != nsTable || full != nil:
			return r.skip()
		case slices.Contains([]string{"table-header-rows", "table-row-group", "table-rows"}, e.Name.Local):
			return r.eachChild(rows)
		case e.Name.Local != "table-row":
			return r.skip()
		}
		n, err := repeatCount(e, "number-rows-repeated")
		if err != nil {
			return err
		}
		row, exact, err := r.readRow(s, len(s.cells)+blank)
		if over := (*Error)(nil); errors.As(err, &over) {
			full = err
			return nil
		} else if err != nil {
			return err
		}
		if len(row) == 0 {
			blank = min(blank+n, excelize.TotalRows)
			return nil
		}
		if len(s.cells)+blank+n > excelize.TotalRows {
			return fmt.Errorf("there is no row %d", len(s.cells)+blank+n)
		}
		bytes := 0
		for _, v := range row {
			bytes += len(v)
		}
		// n is at most 2²⁴ rows, of at most 16,384 cells of at most 256 KiB: the product fits an
		// int.
		if full = r.reserve(s, blank+n*(1+len(row)), n*bytes); full != nil {
			return nil
		}
		s.cells = append(s.cells, make([][]string, blank)...)
		blank = 0
		for range n {
			for _, field := range exact {
				s.exacts[[2]int{len(s.cells), field}] = true
			}
			s.cells = append(s.cells, slices.Clone(row))
		}
		return nil
	}
	if err := r.eachChild(rows); err != nil {
		return err
	}
	if full != nil {
		s.cells, s.exacts, r.cells, r.text = nil, nil, cells, text
		r.faults[s.name] = full
	}
	return nil
}

// reserve counts cells and bytes of text to be stored, and returns an error if they are too many.
func (r *documentReader) reserve(s *sheet, cells, text int) error {
	const hint = "remove what is far from the table, or save the sheet as CSV"
	if r.cells += cells; r.cells > mostCells {
		return r.w.errorf(hint, "sheet %s has more than %d cells", inputerr.Quote(s.name), mostCells)
	}
	if r.text += text; r.text > largestTexts {
		return r.w.errorf(hint, "the cells of sheet %s have more than %d MiB of text", inputerr.Quote(s.name), largestTexts>>20)
	}
	return nil
}

// readRow reads a row up to its last cell that is not empty. exact are the fields of numbers.
func (r *documentReader) readRow(s *sheet, at int) (row []string, exact []int, err error) {
	blank, bytes := 0, 0
	var tooLong error
	err = r.eachChild(func(e xml.StartElement) error {
		covered := isElement(e.Name, nsTable, "covered-table-cell")
		if !covered && !isElement(e.Name, nsTable, "table-cell") {
			return r.skip()
		}
		n, err := repeatCount(e, "number-columns-repeated")
		if err != nil {
			return err
		}
		text, isExact := "", false
		if covered { // covered by a merged cell, so that its content is invisible
			err = r.skip()
		} else {
			text, isExact, err = r.readCell(e, s, at, len(row)+blank)
		}
		if err != nil {
			return err
		}
		if text == "" || tooLong != nil {
			blank = min(blank+n, excelize.MaxColumns)
			return nil
		}
		if len(row)+blank+n > excelize.MaxColumns {
			return fmt.Errorf("there is no column %d", len(row)+blank+n)
		}
		if bytes += n * len(text); bytes > largestTexts {
			tooLong = r.reserve(s, 0, bytes)
			return nil
		}
		row = append(row, make([]string, blank)...)
		blank = 0
		for range n {
			if isExact {
				exact = append(exact, len(row))
			}
			row = append(row, text)
		}
		return nil
	})
	if err == nil {
		err = tooLong
	}
	return row, exact, err
}

// readCell returns the content of a cell as text, and whether it is a number.
func (r *documentReader) readCell(e xml.StartElement, s *sheet, row, field int) (text string, exact bool, err error) {
	var shown strings.Builder
	err = r.eachChild(func(p xml.StartElement) error {
		if !isElement(p.Name, nsText, "p") && !isElement(p.Name, nsText, "h") { // a remark or a picture
			return r.skip()
		}
		if shown.Len() > 0 {
			shown.WriteByte('\n')
		}
		return r.readText(&shown)
	})
	if err != nil {
		return "", false, err
	}
	kind, seen := elementAttribute(e, nsOffice, "value-type"), strings.TrimSpace(shown.String())
	switch kind {
	case "float", "currency", "percentage":
		if v := elementAttribute(e, nsOffice, "value"); v != "" {
			text, exact = documentNumber(v, seen, kind == "percentage")
			return text, exact, nil
		}
	case "date":
		if day, _, _ := strings.Cut(elementAttribute(e, nsOffice, "date-value"), "T"); day != "" {
			return day, false, nil
		}
	case "boolean":
		if v := elementAttribute(e, nsOffice, "boolean-value"); v != "" { // as workbooks of .xlsx write it
			return map[bool]string{true: "1", false: "0"}[v == "true"], true, nil
		}
	case "":
		if formula := elementAttribute(e, nsTable, "formula"); formula != "" && seen == "" && len(s.broken) < mostErrors {
			p := s.placeOf(row, field)
			_, plain, _ := strings.Cut(formula, "=")
			s.broken = append(s.broken, &Error{File: r.w.file, Line: p.line, Column: p.column, Cell: p.cell,
				Message: "the formula " + inputerr.Quote("="+truncate(plain, 200)) + " has no result in the file", Hint: "open the workbook in a spreadsheet and save it"})
		}
	}
	if seen == "" {
		seen = strings.TrimSpace(elementAttribute(e, nsOffice, "string-value"))
	}
	if seen == "" {
		return "", false, nil
	}
	text, exact = cellText(seen, seen)
	return text, exact, nil
}

// documentNumber is [cellText] for a number, which may be shown with a decimal comma.
func documentNumber(value, shown string, percent bool) (text string, exact bool) {
	if percent && !strings.HasSuffix(shown, "%") {
		shown = "%"
	}
	text, exact = cellText(value, shown)
	if strings.Contains(shown, ",") {
		pointed, is := cellText(value, strings.ReplaceAll(strings.ReplaceAll(shown, ".", ""), ",", "."))
		if _, unit, _ := strings.Cut(pointed, " "); unit != "" {
			return pointed, is
		}
	}
	return text, exact
}

// readText appends the text of a paragraph, as it is shown, to that of its cell.
func (r *documentReader) readText(to *strings.Builder) error {
	add := func(text string) error {
		if to.Len()+len(text) > longestText {
			return fmt.Errorf("it has a text longer than %d bytes", longestText)
		}
		to.WriteString(text)
		return nil
	}
	for outside := r.depth - 1; r.depth > outside; {
		token, err := r.next()
		if err != nil {
			return endError(err)
		}
		switch t := token.(type) {
		case xml.CharData:
			text := strings.Join(strings.FieldsFunc(string(t), func(c rune) bool { return strings.ContainsRune(" \t\r\n", c) }), " ")
			if len(t) > 0 && strings.IndexByte(" \t\r\n", t[0]) >= 0 {
				text = " " + text
			}
			if last := len(t) - 1; last > 0 && text != " " && strings.IndexByte(" \t\r\n", t[last]) >= 0 {
				text += " "
			}
			err = add(text)
		case xml.StartElement:
			switch {
			case isElement(t.Name, nsText, "s"):
				n, given := 1, elementAttribute(t, nsText, "c")
				if given != "" {
					if n, err = strconv.Atoi(given); err != nil || n < 0 || n > longestText {
						return fmt.Errorf("a text has %s spaces", inputerr.Quote(truncate(given, 20)))
					}
				}
				err = add(strings.Repeat(" ", n))
			case isElement(t.Name, nsText, "tab"):
				err = add("\t")
			case isElement(t.Name, nsText, "line-break"):
				err = add("\n")
			case t.Name.Space != nsText || t.Name.Local == "note":
				err = r.skip()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
