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
	mostElements   = 1 << 22 // XML elements of all parts
	mostShared     = 1 << 20 // XML elements of a part that is no sheet
	longestElement = 1 << 16 // bytes between < and >
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
		for rest := part; ; {
			start := bytes.IndexByte(rest, '<')
			if start < 0 {
				break
			}
			rest = rest[start:]
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
			has, err := checkSheet(part)
			if err != nil {
				return false, fmt.Errorf("the part %q: %w", f.Name, err)
			}
			formulas = formulas || has
		}
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
// in order, as they are read in order.
func checkSheet(part []byte) (formulas bool, err error) {
	d := xml.NewDecoder(bytes.NewReader(part))
	row, column, depth := 0, 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return formulas, nil
		} else if err != nil {
			return false, err
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			if _, ok := token.(xml.EndElement); ok {
				depth--
			}
			continue
		}
		if depth++; depth > 100 {
			return false, errors.New("elements are nested too deeply")
		}
		switch element.Name.Local {
		case "f":
			formulas = true
		case "row":
			was := row
			row, column = row+1, 0
			if r := attribute(element, "r"); r != "" {
				if row, err = strconv.Atoi(r); err != nil || row > excelize.TotalRows {
					return false, fmt.Errorf("there is no row %q", r)
				}
			}
			if row <= was {
				return false, fmt.Errorf("row %d comes after row %d", row, was)
			}
		case "c":
			was := column
			column++
			if r := attribute(element, "r"); r != "" {
				at := 0
				if column, at, err = excelize.CellNameToCoordinates(r); err != nil {
					return false, err
				}
				if at != row {
					return false, fmt.Errorf("cell %q is in row %d", r, row)
				}
			}
			if column <= was {
				return false, fmt.Errorf("cells of row %d are out of order", row)
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
