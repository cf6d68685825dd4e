package book

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// What a workbook may unpack to. A spreadsheet's own files stay far below; a file
// that was made to fill a memory ends here.
const (
	largestParts   = 64 << 20 // bytes of all parts
	mostParts      = 2000
	mostElements   = 1 << 22  // XML elements of all parts
	mostShared     = 1 << 20  // XML elements of a part that is no sheet
	longestElement = 1 << 16  // bytes between < and >
	longestText    = 1 << 18  // bytes of a text: a cell has at most 32,767 characters
	largestTexts   = 64 << 20 // bytes of the texts of a sheet, each as often as a cell has it
)

// checkArchive unpacks a workbook once to see that its parts are what they say
// they are, and that they are XML to the end: the library takes a sheet that
// breaks off for one that ends. It tells whether any cell holds a formula.
func checkArchive(data []byte) (formulas bool, err error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false, err
	}
	if len(archive.File) > mostParts {
		return false, fmt.Errorf("it has more than %d parts", mostParts)
	}
	left, elements := int64(largestParts), 0
	longest, widest := 0, 0 // bytes of a shared text, cells of a row that have one
	names := make(map[string]bool)
	for _, f := range archive.File {
		name := strings.ToLower(path.Clean(strings.ReplaceAll(f.Name, "\\", "/")))
		if names[name] {
			return false, fmt.Errorf("the part %q is there twice", f.Name)
		}
		names[name] = true
		if name == "mimetype" {
			return false, errors.New("it is an OpenDocument file")
		}
		part, err := unpack(f, left)
		if err != nil {
			return false, err
		}
		left -= int64(len(part))
		if ext := path.Ext(name); ext != ".xml" && ext != ".rels" && ext != ".vml" {
			continue
		}
		sheet := strings.HasPrefix(name, "xl/worksheets/")
		n := bytes.Count(part, []byte{'<'})
		elements += n
		if elements > mostElements || !sheet && n > mostShared {
			return false, fmt.Errorf("the part %q has too many elements", f.Name)
		}
		texts := sheet || name == "xl/sharedstrings.xml"
		text := 0 // bytes of it since its cell or its place among the shared began
		for rest := part; ; {
			start := bytes.IndexByte(rest, '<')
			if start < 0 {
				break
			}
			rest = rest[start:]
			if text += start; texts && text > longestText {
				return false, fmt.Errorf("the part %q has a text longer than %d bytes", f.Name, longestText)
			}
			if bytes.HasPrefix(rest, []byte("<si")) || bytes.HasPrefix(rest, []byte("<c")) {
				text = 0
			}
			if texts && !sheet {
				longest = max(longest, text)
			}
			end := bytes.IndexByte(rest, '>')
			if end > longestElement || end < 0 && len(rest) > longestElement {
				return false, fmt.Errorf("the part %q has an element longer than %d bytes", f.Name, longestElement)
			}
			if end < 0 {
				break
			}
			rest = rest[end:]
		}
		if sheet && path.Ext(name) == ".xml" {
			has, cells, err := checkSheet(part)
			if err != nil {
				return false, fmt.Errorf("the part %q: %w", f.Name, err)
			}
			formulas, widest = formulas || has, max(widest, cells)
		}
	}
	if longest > 0 && widest > largestTexts/longest {
		return false, fmt.Errorf("a row has %d texts, the longest of %d bytes", widest, longest)
	}
	return formulas, nil
}

// unpack returns a part of at most that many bytes.
func unpack(f *zip.File, most int64) ([]byte, error) {
	tooLarge := fmt.Errorf("it unpacks to more than %d MiB", largestParts>>20)
	if f.UncompressedSize64 > uint64(most) {
		return nil, tooLarge
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() // read only: nothing can be lost by it
	part, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(part)) > most {
		return nil, tooLarge
	}
	return part, nil
}

// checkSheet reads a sheet's XML to its end. Rows and the cells in each must come
// in order, as they are read in order. It returns how many cells a row has whose text is
// among the shared.
func checkSheet(part []byte) (formulas bool, shared int, err error) {
	d := xml.NewDecoder(bytes.NewReader(part))
	row, column, depth, inRow := 0, 0, 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return formulas, shared, nil
		} else if err != nil {
			return false, 0, err
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			if _, ok := token.(xml.EndElement); ok {
				depth--
			}
			continue
		}
		if depth++; depth > deepestElement {
			return false, 0, errors.New("elements are nested too deeply")
		}
		switch element.Name.Local {
		case "f":
			formulas = true
		case "row":
			was := row
			row, column, inRow = row+1, 0, 0
			if r := attribute(element, "r"); r != "" {
				if row, err = strconv.Atoi(r); err != nil || row > excelize.TotalRows {
					return false, 0, fmt.Errorf("there is no row %q", r)
				}
			}
			if row <= was {
				return false, 0, fmt.Errorf("row %d comes after row %d", row, was)
			}
		case "c":
			was := column
			column++
			if attribute(element, "t") == "s" {
				inRow++
				shared = max(shared, inRow)
			}
			if r := attribute(element, "r"); r != "" {
				at := 0
				if column, at, err = excelize.CellNameToCoordinates(r); err != nil {
					return false, 0, err
				}
				if at != row {
					return false, 0, fmt.Errorf("cell %q is in row %d", r, row)
				}
			}
			if column <= was {
				return false, 0, fmt.Errorf("cells of row %d are out of order", row)
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
