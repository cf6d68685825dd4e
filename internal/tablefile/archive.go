package tablefile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"kir/internal/browsersched"
)

// These limits on an unpacked workbook stop a file that was made to exhaust memory. Files that
// spreadsheets write stay far below the limits.
const (
	maxUnpackedBytes  = 64 << 20 // maximum total size of all unpacked parts (files in the archive), in bytes
	maxArchiveParts   = 2000     // maximum number of parts in the archive
	maxXMLElements    = 1 << 22  // maximum total number of XML elements in all parts
	maxPartElements   = 1 << 20  // maximum number of XML elements in a part that is not a sheet
	maxElementBytes   = 1 << 16  // maximum number of bytes between < and > of one XML element
	maxTextBytes      = 1 << 18  // maximum size of one text, in bytes; a cell has at most 32,767 characters
	MaxMergedRanges   = 1 << 16  // maximum number of merged ranges in a sheet; the library searches all of them for each formula
	maxSheetTextBytes = 64 << 20 // maximum total size of the texts of the cells in a sheet, in bytes; a shared text counts for each cell
)

// A checkedArchive has what the reader needs to know of a workbook beside the library's answers.
type checkedArchive struct {
	unresolvedFormulas map[[2]int]bool          // set of positions {row, field}, from 0, at which some sheet has a formula without a stored result; at most 20 a sheet
	mergedRanges       map[string][]MergedRange // by name of the sheet: its merged cells
}

// checkArchive unpacks the parts of a workbook one by one. It verifies that each part has its
// declared size and is complete XML, because the library takes a truncated sheet for a complete
// one.
func checkArchive(ctx context.Context, data []byte) (checked *checkedArchive, err error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	checked = &checkedArchive{unresolvedFormulas: make(map[[2]int]bool), mergedRanges: make(map[string][]MergedRange)}
	var workbook, relations []byte
	merged := make(map[string][]MergedRange) // by part
	if len(archive.File) > maxArchiveParts {
		return nil, fmt.Errorf("it has more than %d parts", maxArchiveParts)
	}
	left, elements := int64(maxUnpackedBytes), 0
	longest, widest := 0, 0 // bytes of the longest shared text; maximum number of cells in a row that use shared texts
	names := make(map[string]bool)
	for _, f := range archive.File {
		name := strings.ToLower(path.Clean(strings.ReplaceAll(f.Name, "\\", "/")))
		if names[name] {
			return nil, fmt.Errorf("the part %q is there twice", f.Name)
		}
		names[name] = true
		if name == "mimetype" {
			return nil, errors.New("it is an OpenDocument file")
		}
		part, err := unpackPart(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(part))
		switch name {
		case "xl/workbook.xml":
			workbook = part
		case "xl/_rels/workbook.xml.rels":
			relations = part
		}
		if ext := path.Ext(name); ext != ".xml" && ext != ".rels" && ext != ".vml" {
			continue
		}
		sheet := strings.HasPrefix(name, "xl/worksheets/")
		n := bytes.Count(part, []byte{'<'})
		elements += n
		if elements > maxXMLElements || !sheet && n > maxPartElements {
			return nil, fmt.Errorf("the part %q has too many elements", f.Name)
		}
		texts := sheet || name == "xl/sharedstrings.xml"
		text := 0 // bytes of text since the current cell or shared text began
		for rest := part; ; {
			start := bytes.IndexByte(rest, '<')
			if start < 0 {
				break
			}
			rest = rest[start:]
			if text += start; texts && text > maxTextBytes {
				return nil, fmt.Errorf("the part %q has a text longer than %d bytes", f.Name, maxTextBytes)
			}
			if bytes.HasPrefix(rest, []byte("<si")) || bytes.HasPrefix(rest, []byte("<c")) {
				text = 0
			}
			if texts && !sheet {
				longest = max(longest, text)
			}
			end := bytes.IndexByte(rest, '>')
			if end > maxElementBytes || end < 0 && len(rest) > maxElementBytes {
				return nil, fmt.Errorf("the part %q has an element longer than %d bytes", f.Name, maxElementBytes)
			}
			if end < 0 {
				break
			}
			rest = rest[end:]
		}
		if sheet && path.Ext(name) == ".xml" {
			c, err := checkSheet(ctx, part)
			if err != nil {
				return nil, fmt.Errorf("the part %q: %w", f.Name, err)
			}
			for _, at := range c.unresolvedFormulas {
				checked.unresolvedFormulas[at] = true
			}
			if len(c.mergedRanges) > 0 {
				merged[name] = c.mergedRanges
			}
			widest = max(widest, c.maxSharedTextsInRow)
		}
	}
	if longest > 0 && widest > maxSheetTextBytes/longest {
		return nil, fmt.Errorf("a row has %d texts, the longest of %d bytes", widest, longest)
	}
	if len(merged) > 0 {
		for name, part := range sheetParts(workbook, relations) {
			checked.mergedRanges[name] = merged[part]
		}
	}
	return checked, nil
}

// unpackPart returns the content of a part. It returns an error if the part has more than limit
// bytes.
func unpackPart(f *zip.File, limit int64) ([]byte, error) {
	tooLarge := fmt.Errorf("it unpacks to more than %d MiB", maxUnpackedBytes>>20)
	if f.UncompressedSize64 > uint64(limit) {
		return nil, tooLarge
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() // read only: a failure to close loses nothing
	part, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(part)) > limit {
		return nil, tooLarge
	}
	return part, nil
}

// checkSheet reads a sheet's XML to its end. It returns an error unless rows, and the cells within
// each row, are in ascending order, as the library expects.
func checkSheet(ctx context.Context, part []byte) (*sheetChecker, error) {
	d := xml.NewDecoder(bytes.NewReader(part))
	c := &sheetChecker{knownFormulaGroups: make(map[string]bool)}
	for tokens := 0; ; tokens++ {
		if tokens%4096 == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return nil, err
			}
		}
		token, err := d.Token()
		if err == io.EOF {
			return c, nil
		} else if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := c.startElement(token); err != nil {
				return nil, err
			}
		case xml.EndElement:
			c.endElement(token)
		case xml.CharData:
			c.addText(token)
		}
	}
}

// A sheetChecker checks the XML of one sheet, token by token, for checkSheet.
type sheetChecker struct {
	row, column         int // numbers of the current row and cell, from 1
	depth               int // number of XML elements that are open
	sharedTextsInRow    int // number of cells of the current row that use a shared text
	maxSharedTextsInRow int // maximum of sharedTextsInRow over all rows so far

	mergedRanges []MergedRange // merged ranges so far

	hasFormula         bool            // whether the current cell has a formula that is not empty
	hasResult          bool            // whether the current cell has a result that is not empty
	inFormula          bool            // whether a formula is being read
	inResult           bool            // whether a result is being read
	formulaGroup       string          // id of the group of cells that share a formula with the current cell; empty if there is none
	knownFormulaGroups map[string]bool // ids of the groups whose formula has been read
	unresolvedFormulas [][2]int        // {row, field}, from 0, of the first cells with a formula but no result
}

func (c *sheetChecker) startElement(element xml.StartElement) error {
	if c.depth++; c.depth > maxElementDepth {
		return errors.New("elements are nested too deeply")
	}
	switch element.Name.Local {
	case "f":
		if c.inFormula = true; attributeValue(element, "t") == "shared" {
			c.formulaGroup = attributeValue(element, "si")
		}
	case "v", "is":
		c.inResult = true
	case "mergeCell":
		if len(c.mergedRanges) >= MaxMergedRanges {
			return fmt.Errorf("it has more than %d ranges of merged cells", MaxMergedRanges)
		}
		r, err := ParseMergedRange(attributeValue(element, "ref"))
		if err != nil {
			return err
		}
		c.mergedRanges = append(c.mergedRanges, r)
	case "row":
		return c.startRow(element)
	case "c":
		return c.startCell(element)
	}
	return nil
}

func (c *sheetChecker) startRow(element xml.StartElement) (err error) {
	was := c.row
	c.row, c.column, c.sharedTextsInRow = c.row+1, 0, 0
	if r := attributeValue(element, "r"); r != "" {
		if c.row, err = strconv.Atoi(r); err != nil || c.row > excelize.TotalRows {
			return fmt.Errorf("there is no row %q", r)
		}
	}
	if c.row <= was {
		return fmt.Errorf("row %d comes after row %d", c.row, was)
	}
	return nil
}

func (c *sheetChecker) startCell(element xml.StartElement) (err error) {
	c.hasFormula, c.hasResult, c.formulaGroup = false, false, ""
	was := c.column
	c.column++
	if attributeValue(element, "t") == "s" {
		c.sharedTextsInRow++
		c.maxSharedTextsInRow = max(c.maxSharedTextsInRow, c.sharedTextsInRow)
	}
	if r := attributeValue(element, "r"); r != "" {
		at := 0
		if c.column, at, err = excelize.CellNameToCoordinates(r); err != nil {
			return err
		}
		if at != c.row {
			return fmt.Errorf("cell %q stands in row %d", r, c.row)
		}
	}
	if c.column <= was {
		return fmt.Errorf("cells of row %d are out of order", c.row)
	}
	return nil
}

func (c *sheetChecker) endElement(element xml.EndElement) {
	c.depth--
	name := element.Name.Local
	c.inFormula = c.inFormula && name != "f"
	c.inResult = c.inResult && name != "v" && name != "is"
	if name == "c" && (c.hasFormula || c.knownFormulaGroups[c.formulaGroup]) && !c.hasResult && len(c.unresolvedFormulas) < maxBrokenCells {
		c.unresolvedFormulas = append(c.unresolvedFormulas, [2]int{c.row - 1, c.column - 1})
	}
}

func (c *sheetChecker) addText(text xml.CharData) {
	if c.inFormula && len(text) > 0 {
		c.hasFormula, c.knownFormulaGroups[c.formulaGroup] = true, c.knownFormulaGroups[c.formulaGroup] || c.formulaGroup != ""
	}
	c.hasResult = c.hasResult || c.inResult && len(text) > 0
}

func attributeValue(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
