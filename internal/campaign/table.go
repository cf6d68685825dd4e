package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/dataset/sheet"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// saveBatch stores a new batch beside the problem file. It returns an error if the batch already
// exists.
func (c *Campaign) saveBatch(ctx context.Context, b *Batch) (err error) {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	path := c.batchPath(b.Round, "json")
	if text = append(text, '\n'); len(text) > maxFileBytes {
		return &inputerr.Error{File: path, Message: fmt.Sprintf("the batch would have %d bytes, and may have %d", len(text), maxFileBytes), Hint: "shorten the names of the ingredients"}
	}
	if _, err := c.parseBatch(text, path, b.Round); err != nil {
		return err
	}
	table, err := b.encodeTable(c.Problem.Ingredients, c.TablePath(b.Round))
	if err != nil {
		return err
	}
	if err := c.checkTable(b, table, c.TablePath(b.Round)); err != nil {
		return err
	}
	dir, base := &file.Dir{Path: filepath.Dir(path)}, filepath.Base(path)
	lock, err := lockFile(ctx, dir, filepath.Base(compile.ResultsPath(c.problemPath)))
	if err != nil {
		return err
	}
	if lock != nil {
		defer func() { err = errors.Join(err, lock.Remove()) }()
	}
	if err := removePartialFiles(dir, base); err != nil {
		return err
	}
	return dir.Create(base, text)
}

// Sheet returns the batch as a table to fill in, with one row per recipe. The columns are the id,
// the ingredients, the conditions, an empty column for each label, and a note. The parameter
// ingredients has the names of all ingredients of the problem.
func (b *Batch) Sheet(ingredients []string) (*sheet.Sheet, error) {
	s := &sheet.Sheet{Name: fmt.Sprintf("Batch %d", b.Round)}
	var used []string
	for _, name := range ingredients {
		if slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.Recipe[name] > 0 }) {
			used = append(used, name)
		}
	}
	header := []any{"id"}
	for _, name := range used {
		header = append(header, name)
	}
	conditions := b.conditionNames()
	for _, name := range slices.Concat(conditions, b.Labels) {
		header = append(header, name)
	}
	s.AddRow(append(header, noteColumnName(slices.Concat(b.Labels, conditions, ingredients)))...)
	for k := range b.Entries {
		e := &b.Entries[k]
		shares, err := b.Measure.Shares(e.Recipe, b.Total)
		if err != nil {
			return nil, err
		}
		row := []any{e.ID}
		for _, name := range used {
			if k := slices.IndexFunc(shares, func(s Share) bool { return s.Ingredient == name }); k >= 0 {
				row = append(row, sheet.Decimal(shares[k].Amount))
			} else {
				row = append(row, nil)
			}
		}
		for _, name := range conditions {
			row = append(row, e.Conditions[name])
		}
		for range b.Labels {
			row = append(row, nil)
		}
		s.AddRow(append(row, e.noteText(&b.Measure))...)
	}
	return s, nil
}

// noteText returns the text for the note column of a batch's table: the reason for the recipe and
// the unit of the amounts.
func (e *Entry) noteText(m *Measure) string {
	text := e.Reason.Text
	if m.Unit != "" {
		text += "; amounts in " + m.Unit
	}
	for _, of := range e.conditions {
		if of.Unit != "" {
			text += fmt.Sprintf("; %s in %s", of.Name, of.Unit)
		}
	}
	return text
}

// conditionNames returns the names of the conditions.
func (b *Batch) conditionNames() []string {
	var names []string
	for _, of := range b.Conditions {
		names = append(names, of.Name)
	}
	return names
}

// noteColumnName returns a name for the note column that is not in the list taken.
func noteColumnName(taken []string) string {
	const note = "note"
	name := note
	for k := 2; slices.ContainsFunc(taken, func(other string) bool { return strings.EqualFold(name, other) }); k++ {
		name = fmt.Sprintf("%s of the batch", note)
		if k > 2 {
			name += fmt.Sprintf(" (%d)", k)
		}
	}
	return name
}

// SaveTable writes the table of a batch, in which the user fills in results. The file is an .xlsx
// workbook if path has that extension, and CSV otherwise. If the file exists, SaveTable returns
// [fs.ErrExist]. If the table could not be read back, SaveTable returns an error and writes
// nothing.
func (c *Campaign) SaveTable(b *Batch, path string) error {
	text, err := b.encodeTable(c.Problem.Ingredients, path)
	if err != nil {
		return err
	}
	if err := c.checkTable(b, text, path); err != nil {
		return err
	}
	return file.Create(path, text)
}

// checkTable reads the text of a batch's table and returns an error unless the recipes are those of
// the batch.
func (c *Campaign) checkTable(b *Batch, text []byte, path string) error {
	wrong := func(hint, format string, args ...any) error {
		return &inputerr.Error{File: path, Message: "the table of the batch could not be read again: " + fmt.Sprintf(format, args...), Hint: hint}
	}
	results, _, err := c.ParseTable(text, path, dataset.Layout{})
	if bad := firstInputError(err); bad != nil {
		return wrong("rename or shorten this text in the problem file", "%s", bad.Message)
	}
	if err != nil {
		return err
	}
	if len(results) != len(b.Entries) {
		return wrong("rename the ingredients or labels in its columns", "%s would be read as %d", inputerr.Count(len(b.Entries), "recipe"), len(results))
	}
	for k := range b.Entries {
		e := &b.Entries[k]
		parts, err := c.scaleToTotal(results[k].Parts)
		if err != nil || results[k].ID != e.ID || recipeKey(parts) != recipeKey(e.parts) || !c.matchesConditions(e, results[k].Values) {
			return wrong("rename the ingredients or labels in its columns", "%s would be read as another recipe", e.ID)
		}
	}
	return nil
}

// matchesConditions reports whether the condition values that were read from a table equal the
// conditions of an entry. The map texts gives the value of each condition by name.
func (c *Campaign) matchesConditions(e *Entry, texts map[string]string) bool {
	for name, was := range e.Conditions {
		of := c.findCondition(name)
		if of == nil {
			return false
		}
		if v, err := of.ParseValue(texts[of.Name]); err != nil || v != was {
			return false
		}
	}
	return true
}

// encodeTable returns the contents of the file of a batch's table. The extension of path selects
// the file format.
func (b *Batch) encodeTable(ingredients []string, path string) ([]byte, error) {
	s, err := b.Sheet(ingredients)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if strings.EqualFold(filepath.Ext(path), ".xlsx") {
		err = sheet.WriteWorkbook(&text, s)
	} else {
		err = sheet.WriteCSV(&text, s)
	}
	return text.Bytes(), err
}

// ReadTable reads results from a filled-in table of a batch, from a file of results, or from
// another table of recipes. The table may have only ingredients of the problem. The result Book is
// the table as read.
func (c *Campaign) ReadTable(ctx context.Context, path string, layout dataset.Layout) ([]Result, *dataset.Book, error) {
	header, err := dataset.ReadHeaderFile(ctx, path, layout)
	if err != nil {
		return nil, nil, err
	}
	return c.resultsFromTable(header, layout, func(o dataset.Options) (*dataset.Book, error) { return dataset.ReadFile(ctx, path, o) })
}

// ParseTable is like [Campaign.ReadTable], but the table is given as a text, such as pasted text.
func (c *Campaign) ParseTable(text []byte, name string, layout dataset.Layout) ([]Result, *dataset.Book, error) {
	header, err := dataset.ReadHeader(bytes.NewReader(text), name, layout)
	if err != nil {
		return nil, nil, err
	}
	return c.resultsFromTable(header, layout, func(o dataset.Options) (*dataset.Book, error) { return dataset.Read(bytes.NewReader(text), name, o) })
}

// resultsFromTable calls read to read a table and converts the rows to results. The parameter
// header has the names of the table's columns.
func (c *Campaign) resultsFromTable(header []string, layout dataset.Layout, read func(dataset.Options) (*dataset.Book, error)) ([]Result, *dataset.Book, error) {
	o, err := c.Problem.BookOptions()
	if err != nil {
		return nil, nil, err
	}
	find := func(name string) string {
		if k := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) }); k >= 0 {
			return header[k]
		}
		return ""
	}
	given := func(name string) bool { _, ok := layout.Columns[name]; return ok }
	own := make(map[string]dataset.Role)
	byID := find("id") != "" && find("recipe") == "" && !given(find("id"))
	if byID {
		own[find("id")] = dataset.RecipeColumn
		if note := find(noteColumnName(slices.Concat(c.measuredLabels(), c.ConditionNames(), c.Problem.Ingredients))); note != "" && !given(note) {
			own[note] = dataset.IgnoredColumn
		}
		if round := find("round"); round != "" && !given(round) {
			own[round] = dataset.IgnoredColumn
		}
	}
	if status := find("status"); status != "" && !given(status) {
		own[status] = dataset.LabelColumn
	}
	// A table written by kir has control characters of terminals escaped.
	names, escaped := make(map[string]string), make(map[string]string)
	for _, name := range c.Problem.Ingredients {
		if as := dataset.NormalizeName(sheet.EscapeControls(name)); as != name && slices.Contains(header, as) && !given(as) {
			names[as] = name
		}
	}
	for _, name := range slices.Concat(c.measuredLabels(), c.ConditionNames()) {
		if as := dataset.NormalizeName(sheet.EscapeControls(name)); as != name && slices.Contains(header, as) && !given(as) {
			own[as], escaped[as] = dataset.LabelColumn, name
		}
	}
	o.Layout = layout.Merge(dataset.Layout{Columns: own, Names: names})
	o.LabelsOptional = true
	for _, name := range c.measuredLabels() {
		if slices.Contains(header, name) && !given(name) {
			o.Labels = append(o.Labels, name)
		}
	}
	b, err := read(o)
	if err != nil {
		return nil, nil, err
	}
	if b.Results != nil {
		return resultsFromLog(b), b, nil
	}
	var all []Result
	for k := range b.Recipes {
		r := &b.Recipes[k]
		res := Result{Name: r.Name, Parts: r.Parts, Values: make(map[string]string), At: b.ErrorAtRecipe(k)}
		if _, offered := c.Result(r.Name); byID || offered || c.findEntry(r.Name) != nil {
			res.ID, res.Name = r.Name, ""
		}
		for i := range b.Labels {
			l := &b.Labels[i]
			v := l.Value(k)
			if strings.EqualFold(l.Name, "status") {
				switch strings.ToLower(v) {
				case "", string(dataset.StatusMade):
				case string(dataset.StatusFailed):
					res.Failed = true
				default:
					return nil, nil, res.errorf("write made or failed, or nothing", "the status is %s", inputerr.Quote(v))
				}
				continue
			}
			if e := c.findEntry(r.Name); byID && e != nil && v == dataset.NormalizeName(sheet.EscapeControls(e.noteText(&e.measure))) {
				continue // a note that kir wrote; a label got the name of its column later
			}
			res.Values[cmp.Or(escaped[l.Name], l.Name)] = v
		}
		all = append(all, res)
	}
	return all, b, nil
}

// resultsFromLog returns the current results of a table that is a file of results.
func resultsFromLog(b *dataset.Book) []Result {
	var all []Result
	for k, e := range b.Results.CurrentEntries() {
		res := Result{ID: e.ID, Name: e.Recipe, Parts: e.Parts, Failed: e.Status == dataset.StatusFailed, Values: make(map[string]string), At: b.ErrorAtRecipe(k)}
		for i, name := range b.Results.Labels {
			res.Values[name] = e.Values[i]
		}
		all = append(all, res)
	}
	return all
}

// partSeparator matches the separator between two parts of a recipe that is written in one line.
var partSeparator = regexp.MustCompile(`\s*[,;]\s*`)

// ParseRecipe parses a recipe that is written in one line, such as "Gin=22%, Tonic=78%". The line
// may also have values of conditions. The map conditions gives each value by the name of the
// condition.
func (c *Campaign) ParseRecipe(text string) (parts []dataset.Part, conditions map[string]string, err error) {
	o, err := c.Problem.BookOptions()
	if err != nil {
		return nil, nil, err
	}
	// A comma that no name follows is a decimal comma.
	var pieces []string
	from := 0
	cuts := append(partSeparator.FindAllStringIndex(text, -1), []int{len(text), len(text)})
	for k, cut := range cuts {
		end := len(text)
		if k+1 < len(cuts) {
			end = cuts[k+1][0]
		}
		if cut[0] == len(text) || strings.Contains(text[cut[1]:end], "=") {
			pieces = append(pieces, text[from:cut[0]])
			from = cut[1]
		}
	}
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	rows := [][]string{{"recipe", "ingredient", "amount"}}
	for _, piece := range pieces {
		at := strings.LastIndex(piece, "=")
		if at < 1 {
			return nil, nil, &inputerr.Error{Message: inputerr.Quote(piece) + " does not say how much of what", Hint: `write a recipe as "Gin=22%,Tonic=78%"`}
		}
		name, amount := strings.TrimSpace(piece[:at]), strings.TrimSpace(piece[at+1:])
		if of := c.findCondition(dataset.NormalizeName(name)); of != nil {
			if conditions == nil {
				conditions = make(map[string]string)
			}
			conditions[of.Name] = amount
			continue
		}
		rows = append(rows, []string{"it", name, amount})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, nil, err
	}
	o.Layout = dataset.Layout{Delimiter: "comma"}
	if strings.Contains(strings.Join(pieces, ""), ",") && !strings.Contains(text, ".") {
		o.Layout.Decimal = measure.DecimalComma
	} else {
		o.Layout.Decimal = measure.DecimalPoint
	}
	b, err := dataset.Read(&table, "", o)
	if err != nil {
		return nil, nil, stripLocation(err)
	}
	return b.Recipes[0].Parts, conditions, nil
}

// stripLocation removes the file and the position from an error, because the faulty text is not in
// a file.
func stripLocation(err error) error {
	strip := func(e *inputerr.Error) { e.File, e.Line, e.Column = "", 0, 0 }
	switch e := err.(type) {
	case *inputerr.Error:
		strip(e)
	case *inputerr.Errors:
		for _, one := range e.All {
			strip(one)
		}
	}
	return err
}
