package tablefile

import (
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"kir/internal/inputerr"
)

// maxFilledCells is the maximum number of cells, in the sheets that are held in memory, that repeat a merged cell.
const maxFilledCells = 1 << 20

// A MergedRange is a range of cells that a workbook shows as one. Rows and fields count from 0, and
// all four bounds belong to the range. The content stands in the first cell.
type MergedRange struct{ Top, Left, Bottom, Right int }

// ParseMergedRange parses a range as .xlsx files write it, such as A2:A5.
func ParseMergedRange(ref string) (r MergedRange, err error) {
	first, last, isRange := strings.Cut(ref, ":")
	if !isRange {
		last = first
	}
	left, top, err := excelize.CellNameToCoordinates(first)
	if err != nil {
		return r, fmt.Errorf("it has merged cells %s", inputerr.Quote(Truncate(ref, 20)))
	}
	right, bottom, err := excelize.CellNameToCoordinates(last)
	if err != nil {
		return r, fmt.Errorf("it has merged cells %s", inputerr.Quote(Truncate(ref, 20)))
	}
	return MergedRange{min(top, bottom) - 1, min(left, right) - 1, max(top, bottom) - 1, max(left, right) - 1}, nil
}

// fillMerged copies the content of each merged cell down to the rows that it covers, and records how
// many columns it covers. A row that has nothing else stays empty, as below a title. A cell with
// content of its own stays as it is. It subtracts from left the number of cells that it looks at;
// less than 0 is an error. The message of an error follows the name of the sheet.
//
// The content is not copied to the right: the columns there may have no names. Labels and units of
// groups use the recorded numbers of columns.
func (s *Sheet) fillMerged(ranges []MergedRange, left *int) error {
	if len(ranges) == 0 {
		return nil
	}
	// Fields of the first and last cell with text, by row: they tell whether there is text outside a range.
	first, last := make([]int, len(s.Cells)), make([]int, len(s.Cells))
	for r, row := range s.Cells {
		hasText := func(text string) bool { return strings.TrimSpace(text) != "" }
		first[r], last[r] = slices.IndexFunc(row, hasText), -1
		for i := len(row) - 1; i >= 0 && last[r] < 0; i-- {
			if hasText(row[i]) {
				last[r] = i
			}
		}
	}
	s.FilledCells, s.CoveredColumns = make(map[[2]int]bool), make(map[[2]int]int)
	bytes := 0
	for _, m := range ranges {
		if m.Top >= len(s.Cells) || m.Left >= len(s.Cells[m.Top]) {
			continue
		}
		text := s.Cells[m.Top][m.Left]
		if strings.TrimSpace(text) == "" || s.FilledCells[[2]int{m.Top, m.Left}] {
			continue
		}
		s.CoveredColumns[[2]int{m.Top, m.Left}] = m.Right - m.Left + 1
		bottom := min(m.Bottom, len(s.Cells)-1)
		// Ranges of a file that was made to do harm may overlap, so all rows that are looked at count.
		if *left -= bottom - m.Top; *left < 0 {
			return fmt.Errorf("has merged cells that cover more than %d others", maxFilledCells)
		}
		for r := m.Top + 1; r <= bottom; r++ {
			if first[r] < 0 || first[r] >= m.Left && last[r] <= m.Right {
				continue
			}
			if m.Left < len(s.Cells[r]) && strings.TrimSpace(s.Cells[r][m.Left]) != "" {
				continue
			}
			if bytes += len(text) + 16*max(0, m.Left+1-len(s.Cells[r])); bytes > maxSheetTextBytes {
				return fmt.Errorf("has merged cells that repeat more than %d MiB of text", maxSheetTextBytes>>20)
			}
			for len(s.Cells[r]) <= m.Left {
				s.Cells[r] = append(s.Cells[r], "")
			}
			s.Cells[r][m.Left] = text
			s.FilledCells[[2]int{r, m.Left}] = true
			if s.NumberCells[[2]int{m.Top, m.Left}] {
				s.NumberCells[[2]int{r, m.Left}] = true
			}
		}
	}
	return nil
}

// WithoutFilled returns the row with the cells empty that only repeat a merged cell above.
func WithoutFilled(rows Rows, row []string) []string {
	isCopied := false
	for i := range row {
		if rows.IsFilled(i) {
			if !isCopied {
				row, isCopied = slices.Clone(row), true
			}
			row[i] = ""
		}
	}
	return row
}

// sheetParts returns the path of the part of each sheet of an .xlsx file in lower case, by the name
// of the sheet. workbook and relations are the parts xl/workbook.xml and
// xl/_rels/workbook.xml.rels. A sheet whose part is not found there is left out.
func sheetParts(workbook, relations []byte) map[string]string {
	var book struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	var links struct {
		Links []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	// A file that is not understood here is read without its merged cells, or refused by the library.
	if xml.Unmarshal(workbook, &book) != nil || xml.Unmarshal(relations, &links) != nil {
		return nil
	}
	byID := make(map[string]string)
	for _, l := range links.Links {
		byID[l.ID] = l.Target
	}
	parts := make(map[string]string)
	for _, s := range book.Sheets {
		target, ok := byID[s.ID]
		if !ok {
			continue
		}
		if !strings.HasPrefix(target, "/") {
			target = "xl/" + target
		}
		parts[s.Name] = strings.ToLower(strings.TrimPrefix(path.Clean(target), "/"))
	}
	return parts
}
