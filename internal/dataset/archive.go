package dataset

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

// Limits on an unpacked workbook. A spreadsheet's own files stay far below them. They stop a file
// that was made to exhaust memory.
const (
	largestParts   = 64 << 20 // bytes of all parts
	mostParts      = 2000
	mostElements   = 1 << 22  // XML elements of all parts
	mostShared     = 1 << 20  // XML elements of a part that is not a sheet
	longestElement = 1 << 16  // bytes between < and >
	longestText    = 1 << 18  // bytes of a text: a cell has at most 32,767 characters
	mostMerged     = 1 << 16  // ranges of merged cells of a sheet, all of which are searched for each formula
	largestTexts   = 64 << 20 // bytes of the texts of a sheet, each counted as often as a cell uses it
)

// checkArchive unpacks a workbook once. It verifies that its parts have their declared sizes and
// are complete XML: the library takes a truncated sheet for a complete one. It returns the row and
// the field, counted from 0, of cells in any sheet with a formula but no result: the first of each.
func checkArchive(ctx context.Context, data []byte) (formulas map[[2]int]bool, err error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	formulas = make(map[[2]int]bool)
	if len(archive.File) > mostParts {
		return nil, fmt.Errorf("it has more than %d parts", mostParts)
	}
	left, elements := int64(largestParts), 0
	longest, widest := 0, 0 // most bytes of a shared text; most cells of a row that use one
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
		part, err := unpack(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(part))
		if ext := path.Ext(name); ext != ".xml" && ext != ".rels" && ext != ".vml" {
			continue
		}
		sheet := strings.HasPrefix(name, "xl/worksheets/")
		n := bytes.Count(part, []byte{'<'})
		elements += n
		if elements > mostElements || !sheet && n > mostShared {
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
			if text += start; texts && text > longestText {
				return nil, fmt.Errorf("the part %q has a text longer than %d bytes", f.Name, longestText)
			}
			if bytes.HasPrefix(rest, []byte("<si")) || bytes.HasPrefix(rest, []byte("<c")) {
				text = 0
			}
			if texts && !sheet {
				longest = max(longest, text)
			}
			end := bytes.IndexByte(rest, '>')
			if end > longestElement || end < 0 && len(rest) > longestElement {
				return nil, fmt.Errorf("the part %q has an element longer than %d bytes", f.Name, longestElement)
			}
			if end < 0 {
				break
			}
			rest = rest[end:]
		}
		if sheet && path.Ext(name) == ".xml" {
			open, cells, err := checkSheet(ctx, part)
			if err != nil {
				return nil, fmt.Errorf("the part %q: %w", f.Name, err)
			}
			for _, at := range open {
				formulas[at] = true
			}
			widest = max(widest, cells)
		}
	}
	if longest > 0 && widest > largestTexts/longest {
		return nil, fmt.Errorf("a row has %d texts, the longest of %d bytes", widest, longest)
	}
	return formulas, nil
}

// unpack returns a part of at most so many bytes.
func unpack(f *zip.File, most int64) ([]byte, error) {
	tooLarge := fmt.Errorf("it unpacks to more than %d MiB", largestParts>>20)
	if f.UncompressedSize64 > uint64(most) {
		return nil, tooLarge
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() // read only: a failure to close loses nothing
	part, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(part)) > most {
		return nil, tooLarge
	}
	return part, nil
}

// checkSheet reads a sheet's XML to its end. Rows and their cells must be in order, as the reader
// expects. It returns the first cells with a formula but no result, and how many cells of a row use
// a shared text.
func checkSheet(ctx context.Context, part []byte) (formulas [][2]int, shared int, err error) {
	d := xml.NewDecoder(bytes.NewReader(part))
	c := sheetCheck{groups: make(map[string]bool)}
	for tokens := 0; ; tokens++ {
		if tokens%4096 == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return nil, 0, err
			}
		}
		token, err := d.Token()
		if err == io.EOF {
			return c.formulas, c.shared, nil
		} else if err != nil {
			return nil, 0, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := c.start(token); err != nil {
				return nil, 0, err
			}
		case xml.EndElement:
			c.end(token)
		case xml.CharData:
			c.text(token)
		}
	}
}

// A sheetCheck is the state of the check of a sheet.
type sheetCheck struct {
	row, column, depth int
	merged             int // ranges of merged cells
	sharedInRow        int // cells of the row that use a shared text
	shared             int // the most such cells of a row

	formula, result     bool            // the cell has one that is not empty
	inFormula, inResult bool            // the text is of one
	group               string          // the group of cells with one shared formula to which the cell belongs
	groups              map[string]bool // the groups whose formula has been seen
	formulas            [][2]int        // the first cells with a formula but no result
}

func (c *sheetCheck) start(element xml.StartElement) error {
	if c.depth++; c.depth > deepestElement {
		return errors.New("elements are nested too deeply")
	}
	switch element.Name.Local {
	case "f":
		if c.inFormula = true; attributeValue(element, "t") == "shared" {
			c.group = attributeValue(element, "si")
		}
	case "v", "is":
		c.inResult = true
	case "mergeCell":
		if c.merged++; c.merged > mostMerged {
			return fmt.Errorf("it has more than %d ranges of merged cells", mostMerged)
		}
	case "row":
		return c.startRow(element)
	case "c":
		return c.startCell(element)
	}
	return nil
}

func (c *sheetCheck) startRow(element xml.StartElement) (err error) {
	was := c.row
	c.row, c.column, c.sharedInRow = c.row+1, 0, 0
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

func (c *sheetCheck) startCell(element xml.StartElement) (err error) {
	c.formula, c.result, c.group = false, false, ""
	was := c.column
	c.column++
	if attributeValue(element, "t") == "s" {
		c.sharedInRow++
		c.shared = max(c.shared, c.sharedInRow)
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

func (c *sheetCheck) end(element xml.EndElement) {
	c.depth--
	name := element.Name.Local
	c.inFormula = c.inFormula && name != "f"
	c.inResult = c.inResult && name != "v" && name != "is"
	if name == "c" && (c.formula || c.groups[c.group]) && !c.result && len(c.formulas) < mostErrors {
		c.formulas = append(c.formulas, [2]int{c.row - 1, c.column - 1})
	}
}

func (c *sheetCheck) text(text xml.CharData) {
	if c.inFormula && len(text) > 0 {
		c.formula, c.groups[c.group] = true, c.groups[c.group] || c.group != ""
	}
	c.result = c.result || c.inResult && len(text) > 0
}

func attributeValue(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
