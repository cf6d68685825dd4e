package tablefile

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

// The media type of an OpenDocument spreadsheet, the names of the parts that are read, and the XML
// namespaces of their elements.
const (
	odsMediaType = "application/vnd.oasis.opendocument.spreadsheet"
	odsContent   = "content.xml"
	odsManifest  = "META-INF/manifest.xml"

	officeNamespace = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
	tableNamespace  = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
	textNamespace   = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
)

// maxElementDepth is the maximum nesting depth of XML elements in a workbook.
const maxElementDepth = 100

// isOpenDocument reports whether an archive is an OpenDocument file rather than an .xlsx file.
func isOpenDocument(archive *zip.Reader) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == name })
	}
	return (has("mimetype") || has(odsContent)) && !has("[Content_Types].xml")
}

// IsFlatDocument reports whether a file, given its first bytes, is a flat OpenDocument file: one
// XML document instead of an archive.
func IsFlatDocument(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("<?xml")) && bytes.Contains(head, []byte(officeNamespace))
}

// openDocument returns content.xml, the part of an OpenDocument file that contains the sheets. Of
// the other parts it unpacks only the media type and the manifest. It returns an error if the file
// is not a spreadsheet or is encrypted.
func openDocument(archive *zip.Reader) ([]byte, error) {
	if len(archive.File) > maxArchiveParts {
		return nil, fmt.Errorf("it has more than %d parts", maxArchiveParts)
	}
	parts := make(map[string][]byte)
	left := int64(maxUnpackedBytes)
	for _, f := range archive.File {
		name := path.Clean(f.Name)
		if name != "mimetype" && name != odsManifest && name != odsContent {
			continue
		}
		if _, twice := parts[name]; twice {
			return nil, fmt.Errorf("the part %q is there twice", f.Name)
		}
		part, err := unpackPart(f, left)
		if err != nil {
			return nil, err
		}
		parts[name], left = part, left-int64(len(part))
	}
	kind, said := parts["mimetype"]
	switch {
	case said && !strings.HasPrefix(strings.TrimSpace(string(kind)), odsMediaType):
		return nil, fmt.Errorf("it is %s, and no spreadsheet", inputerr.Quote(Truncate(strings.TrimSpace(string(kind)), 80)))
	case bytes.Contains(parts[odsManifest], []byte("encryption-data")):
		return nil, errors.New("it has a password")
	case parts[odsContent] == nil:
		return nil, fmt.Errorf("it is an OpenDocument file without %s", odsContent)
	}
	return parts[odsContent], nil
}

// A documentReader reads the sheets of an OpenDocument spreadsheet.
type documentReader struct {
	workbook        *Workbook        // the workbook, for its context and for error messages
	decoder         *xml.Decoder     // the XML of the sheets
	depth           int              // number of elements that are open
	tokenCount      int              // number of XML tokens read
	storedCellCount int              // total number of stored cells in all sheets
	textBytes       int              // total number of bytes of text in the stored cells
	fillsLeft       int              // number of cells that may still repeat merged cells, in all sheets
	sheets          []*Sheet         // sheets read so far
	sheetErrors     map[string]error // by name of the sheet: error that the sheet is too large to store
}

// readDocument reads all sheets of an OpenDocument spreadsheet. content is the part content.xml or
// a flat file. The file writes equal cells once, with a count; readDocument checks the limits
// before it stores the repeated cells.
func (w *Workbook) readDocument(content []byte) error {
	if bytes.Count(content, []byte{'<'}) > maxXMLElements {
		return errors.New("it has too many elements")
	}
	for rest := content; ; {
		start := bytes.IndexByte(rest, '<')
		if start < 0 {
			break
		}
		rest = rest[start:]
		end := bytes.IndexByte(rest, '>')
		if end > maxElementBytes || end < 0 && len(rest) > maxElementBytes {
			return fmt.Errorf("it has an element longer than %d bytes", maxElementBytes)
		}
		if end < 0 {
			break
		}
		rest = rest[end:]
	}
	r := &documentReader{workbook: w, decoder: xml.NewDecoder(bytes.NewReader(content)), fillsLeft: maxFilledCells, sheetErrors: make(map[string]error)}
	inBook := false
	for {
		token, err := r.nextToken()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch {
			case isElement(e.Name, officeNamespace, "spreadsheet"):
				inBook = true
			case inBook && isElement(e.Name, tableNamespace, "table"):
				if err := r.readSheet(e); err != nil {
					return err
				}
			case inBook || isElement(e.Name, officeNamespace, "master-styles") || isElement(e.Name, officeNamespace, "styles"):
				if err := r.skipElement(); err != nil {
					return err
				}
			}
		case xml.EndElement:
			inBook = inBook && !isElement(e.Name, officeNamespace, "spreadsheet")
		}
	}
	w.Names = nil
	for _, s := range r.sheets {
		w.Names = append(w.Names, s.Name)
	}
	w.ReadNamedSheet = func(name string) (*Sheet, error) {
		if err := r.sheetErrors[name]; err != nil {
			return nil, err
		}
		at := slices.IndexFunc(r.sheets, func(s *Sheet) bool { return s.Name == name })
		if at < 0 {
			return nil, w.Errorf("there are "+inputerr.List(w.Names, 12), "the workbook has no sheet %s", inputerr.Quote(name))
		}
		return r.sheets[at], nil
	}
	return nil
}

// isElement reports whether n is the name local in the namespace space.
func isElement(n xml.Name, space, local string) bool { return n.Local == local && n.Space == space }

// nextToken returns the next XML token. It returns an error if elements are nested more than
// maxElementDepth deep or if the context has ended.
func (r *documentReader) nextToken() (xml.Token, error) {
	if r.tokenCount++; r.tokenCount%4096 == 0 {
		if err := browsersched.Err(r.workbook.Ctx); err != nil {
			return nil, err
		}
	}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token.(type) {
	case xml.StartElement:
		if r.depth++; r.depth > maxElementDepth {
			return nil, errors.New("elements are nested too deeply")
		}
	case xml.EndElement:
		r.depth--
	}
	return token, nil
}

// readChildren calls visit with each direct child of the element that was begun last, until this
// element ends. visit must read its element to the end.
func (r *documentReader) readChildren(visit func(e xml.StartElement) error) error {
	for outside := r.depth - 1; r.depth > outside; {
		token, err := r.nextToken()
		if err != nil {
			return unexpectedEnd(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipElement reads to the end of the element that was begun last.
func (r *documentReader) skipElement() error {
	for outside := r.depth - 1; r.depth > outside; {
		if _, err := r.nextToken(); err != nil {
			return unexpectedEnd(err)
		}
	}
	return nil
}

// unexpectedEnd replaces io.EOF by io.ErrUnexpectedEOF, for a file that ends within an element. It
// returns any other error unchanged.
func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// elementAttribute returns the value of the attribute local in the namespace space, or an empty
// text.
func elementAttribute(e xml.StartElement, space, local string) string {
	for _, a := range e.Attr {
		if isElement(a.Name, space, local) {
			return a.Value
		}
	}
	return ""
}

// repeatCount returns how often a cell or a row is repeated, as an attribute of its element says:
// at least 1, and at most 2^24.
func repeatCount(e xml.StartElement, attribute string) (int, error) {
	text := elementAttribute(e, tableNamespace, attribute)
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s of a sheet is %s", attribute, inputerr.Quote(Truncate(text, 20)))
	}
	return min(n, 1<<24), nil // more than a sheet can have of either
}

// readSheet reads a sheet to its end. If the sheet is too large to store, readSheet records an
// error in sheetErrors instead of the cells.
func (r *documentReader) readSheet(start xml.StartElement) error {
	s := &Sheet{Name: elementAttribute(start, tableNamespace, "name"), NumberCells: make(map[[2]int]bool)}
	if elementAttribute(start, tableNamespace, "style-name") == "ta_extref" { // a cached copy of another file's sheet
		return r.skipElement()
	}
	if slices.ContainsFunc(r.sheets, func(o *Sheet) bool { return o.Name == s.Name }) {
		return fmt.Errorf("the sheet %s is there twice", inputerr.Quote(s.Name))
	}
	if r.sheets = append(r.sheets, s); len(r.sheets) > MaxSheets {
		return fmt.Errorf("it has more than %d sheets", MaxSheets)
	}
	cells, text := r.storedCellCount, r.textBytes
	blank := 0 // blank rows, which are stored only if another row follows
	var merged []MergedRange
	var full error
	var rows func(e xml.StartElement) error
	rows = func(e xml.StartElement) error {
		switch {
		case e.Name.Space != tableNamespace || full != nil:
			return r.skipElement()
		case slices.Contains([]string{"table-header-rows", "table-row-group", "table-rows"}, e.Name.Local):
			return r.readChildren(rows)
		case e.Name.Local != "table-row":
			return r.skipElement()
		}
		n, err := repeatCount(e, "number-rows-repeated")
		if err != nil {
			return err
		}
		row, exact, ranges, err := r.readRow(s, len(s.Cells)+blank)
		if over := (*inputerr.Error)(nil); errors.As(err, &over) {
			full = err
			return nil
		} else if err != nil {
			return err
		}
		if merged = append(merged, ranges...); len(merged) > MaxMergedRanges {
			return fmt.Errorf("it has more than %d ranges of merged cells", MaxMergedRanges)
		}
		if len(row) == 0 {
			blank = min(blank+n, excelize.TotalRows)
			return nil
		}
		if len(s.Cells)+blank+n > excelize.TotalRows {
			return fmt.Errorf("there is no row %d", len(s.Cells)+blank+n)
		}
		bytes := 0
		for _, v := range row {
			bytes += len(v)
		}
		// n is at most 2²⁴ rows, of at most 16,384 cells of at most 256 KiB: the product fits an
		// int.
		if full = r.reserveSpace(s, blank+n*(1+len(row)), n*bytes); full != nil {
			return nil
		}
		s.Cells = append(s.Cells, make([][]string, blank)...)
		blank = 0
		for range n {
			for _, field := range exact {
				s.NumberCells[[2]int{len(s.Cells), field}] = true
			}
			s.Cells = append(s.Cells, slices.Clone(row))
		}
		return nil
	}
	if err := r.readChildren(rows); err != nil {
		return err
	}
	if full == nil {
		if err := s.fillMerged(merged, &r.fillsLeft); err != nil {
			full = r.workbook.Errorf("split the merged cells, or save the sheet as CSV", "sheet %s %v", inputerr.Quote(s.Name), err)
		}
	}
	if full != nil {
		s.Cells, s.NumberCells, r.storedCellCount, r.textBytes = nil, nil, cells, text
		r.sheetErrors[s.Name] = full
	}
	return nil
}

// reserveSpace adds to the numbers of stored cells and bytes of text. It returns an error if the
// sums exceed the limits.
func (r *documentReader) reserveSpace(s *Sheet, cells, text int) error {
	const hint = "remove what is far from the table, or save the sheet as CSV"
	if r.storedCellCount += cells; r.storedCellCount > MaxCells {
		return r.workbook.Errorf(hint, "sheet %s has more than %d cells", inputerr.Quote(s.Name), MaxCells)
	}
	if r.textBytes += text; r.textBytes > maxSheetTextBytes {
		return r.workbook.Errorf(hint, "the cells of sheet %s have more than %d MiB of text", inputerr.Quote(s.Name), maxSheetTextBytes>>20)
	}
	return nil
}

// readRow reads a row up to its last cell that is not empty. The argument at is the index of the
// row in the sheet. exact lists the indices of the cells that hold numbers, and merged the merged
// cells that begin in the row.
func (r *documentReader) readRow(s *Sheet, at int) (row []string, exact []int, merged []MergedRange, err error) {
	blank, bytes := 0, 0
	var tooLong error
	err = r.readChildren(func(e xml.StartElement) error {
		covered := isElement(e.Name, tableNamespace, "covered-table-cell")
		if !covered && !isElement(e.Name, tableNamespace, "table-cell") {
			return r.skipElement()
		}
		n, err := repeatCount(e, "number-columns-repeated")
		if err != nil {
			return err
		}
		text, isExact := "", false
		if covered { // covered by a merged cell, so that its content is invisible
			err = r.skipElement()
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
		if bytes += n * len(text); bytes > maxSheetTextBytes {
			tooLong = r.reserveSpace(s, 0, bytes)
			return nil
		}
		row = append(row, make([]string, blank)...)
		blank = 0
		columns, err := repeatCount(e, "number-columns-spanned")
		if err != nil {
			return err
		}
		rows, err := repeatCount(e, "number-rows-spanned")
		if err != nil {
			return err
		}
		if n == 1 && (columns > 1 || rows > 1) {
			merged = append(merged, MergedRange{at, len(row), at + rows - 1, len(row) + columns - 1})
		}
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
	return row, exact, merged, err
}

// readCell returns the content of a cell as text, and whether the content is a number. row and
// field are the indices of the cell, from 0.
func (r *documentReader) readCell(e xml.StartElement, s *Sheet, row, field int) (text string, exact bool, err error) {
	var shown strings.Builder
	err = r.readChildren(func(p xml.StartElement) error {
		if !isElement(p.Name, textNamespace, "p") && !isElement(p.Name, textNamespace, "h") { // a remark or a picture
			return r.skipElement()
		}
		if shown.Len() > 0 {
			shown.WriteByte('\n')
		}
		return r.appendText(&shown)
	})
	if err != nil {
		return "", false, err
	}
	kind, seen := elementAttribute(e, officeNamespace, "value-type"), strings.TrimSpace(shown.String())
	switch kind {
	case "float", "currency", "percentage":
		if v := elementAttribute(e, officeNamespace, "value"); v != "" {
			text, exact = documentNumberText(v, seen, kind == "percentage")
			return text, exact, nil
		}
	case "date":
		if day, _, _ := strings.Cut(elementAttribute(e, officeNamespace, "date-value"), "T"); day != "" {
			return day, false, nil
		}
	case "boolean":
		if v := elementAttribute(e, officeNamespace, "boolean-value"); v != "" { // as workbooks of .xlsx write it
			return map[bool]string{true: "1", false: "0"}[v == "true"], true, nil
		}
	case "":
		if formula := elementAttribute(e, tableNamespace, "formula"); formula != "" && seen == "" && len(s.BrokenCells) < maxBrokenCells {
			p := s.placeOf(row, field)
			_, plain, _ := strings.Cut(formula, "=")
			s.BrokenCells = append(s.BrokenCells, &inputerr.Error{File: r.workbook.File, Line: p.Line, Column: p.Column, Cell: p.Cell,
				Message: "the formula " + inputerr.Quote("="+Truncate(plain, 200)) + " has no result in the file", Hint: "open the workbook in a spreadsheet and save it"})
		}
	}
	if seen == "" {
		seen = strings.TrimSpace(elementAttribute(e, officeNamespace, "string-value"))
	}
	if seen == "" {
		return "", false, nil
	}
	text, exact = CellText(seen, seen)
	return text, exact, nil
}

// documentNumberText returns the text of a cell that holds a number, and whether the text is a
// number, as [cellText] does. value is the stored number. shown is the displayed text, which may
// have a decimal comma. percent reports that the number is a percentage.
func documentNumberText(value, shown string, percent bool) (text string, exact bool) {
	if percent && !strings.HasSuffix(shown, "%") {
		shown = "%"
	}
	text, exact = CellText(value, shown)
	if strings.Contains(shown, ",") {
		pointed, is := CellText(value, strings.ReplaceAll(strings.ReplaceAll(shown, ".", ""), ",", "."))
		if _, unit, _ := strings.Cut(pointed, " "); unit != "" {
			return pointed, is
		}
	}
	return text, exact
}

// appendText appends the text of a paragraph, as a spreadsheet shows it, to the text of the cell.
func (r *documentReader) appendText(to *strings.Builder) error {
	add := func(text string) error {
		if to.Len()+len(text) > maxTextBytes {
			return fmt.Errorf("it has a text longer than %d bytes", maxTextBytes)
		}
		to.WriteString(text)
		return nil
	}
	for outside := r.depth - 1; r.depth > outside; {
		token, err := r.nextToken()
		if err != nil {
			return unexpectedEnd(err)
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
			case isElement(t.Name, textNamespace, "s"):
				n, given := 1, elementAttribute(t, textNamespace, "c")
				if given != "" {
					if n, err = strconv.Atoi(given); err != nil || n < 0 || n > maxTextBytes {
						return fmt.Errorf("a text has %s spaces", inputerr.Quote(Truncate(given, 20)))
					}
				}
				err = add(strings.Repeat(" ", n))
			case isElement(t.Name, textNamespace, "tab"):
				err = add("\t")
			case isElement(t.Name, textNamespace, "line-break"):
				err = add("\n")
			case t.Name.Space != textNamespace || t.Name.Local == "note":
				err = r.skipElement()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
