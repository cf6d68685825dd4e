package serve

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// These limits bound how much of a table, and how many errors and questions, the setup page shows.
const (
	maxShownRows      = 60
	maxShownColumns   = 60
	maxCellBytes      = 80
	maxShownFaults    = 8
	maxShownQuestions = 40
)

// A SetupView is everything that the setup page shows.
type SetupView struct {
	ProblemPath          string         `json:"where"` // path of the problem file that will be written; empty if the page names no paths
	Examples             []ExampleName  `json:"examples"`
	Tables               []TableView    `json:"tables"`  // first rows of each table
	Summary              string         `json:"says"`    // what the tables contain, in words
	Faults               []FaultView    `json:"faults"`  // errors in the tables
	Questions            []QuestionView `json:"asks"`    // assumptions about the tables, as questions that the user can answer
	Notes                []string       `json:"left"`    // other remarks on how the tables are understood
	Targets              []TargetView   `json:"targets"` // labels and attributes that may become objectives
	Bounds               []BoundView    `json:"bounds"`  // constraints that the user can switch on and off
	Round                *QuestionView  `json:"round"`   // question for the number of recipes that are made at a time; nil if nothing is measured
	Text                 string         `json:"text"`    // text of the problem file that would be written
	Ready                bool           `json:"ready"`   // whether the problem file can be written
	TableFromCommandLine bool           `json:"named"`   // whether the table was named on the command line
}

// A TableView is the first part of a table, with the meaning of each cell.
type TableView struct {
	Kind    tableKind  `json:"of"` // what the table contains
	Name    string     `json:"name"`
	Sheet   string     `json:"sheet"`   // name of the sheet of the workbook that is shown
	Sheets  []string   `json:"sheets"`  // names of all sheets of the workbook; empty if there is no choice
	Columns []PickView `json:"columns"` // item k has the role of column k and the roles that can be chosen
	Rows    []RowView  `json:"rows"`    // first rows
	More    bool       `json:"more"`    // whether the table has more rows than are shown
}

// A PickView is a column of a table, with the roles that the user can choose.
type PickView struct {
	Name  string         `json:"name"`
	Role  dataset.Role   `json:"role"`  // current role
	Roles []dataset.Role `json:"roles"` // roles that can be chosen
}

// A RowView is a row of a [TableView].
type RowView struct {
	Line     int        `json:"line"`  // number of the row's line in the file
	IsHeader bool       `json:"head"`  // whether the row contains the names of the columns
	HasError bool       `json:"wrong"` // whether some cell of the row cannot be read
	Why      string     `json:"why"`   // reason why the row is left out, as a sentence; empty if the row is used
	Restore  *answer    `json:"back"`  // answer that makes kir use the row after all; nil if there is none
	Cells    []CellView `json:"cells"`
}

// A CellView is a cell of a [RowView], with its meaning.
type CellView struct {
	Text string `json:"t"`
	Kind string `json:"k"` // meaning of the cell, such as [cellAmount]
}

// These are the possible values of [CellView.Kind].
const (
	cellName       = "name"
	cellIngredient = "ingredient"
	cellAsset      = "asset"
	cellAmount     = "amount"
	cellResult     = "result"
	cellPrice      = "price"
	cellStock      = "stock"
	cellLimit      = "limit"
	cellGroup      = "group"
	cellNote       = "note"
	cellTime       = "time"
	cellValue      = "value" // a price or a return in a table of series
	cellLeftOut    = "left"
)

// A QuestionView is a question about the tables, with the possible answers.
type QuestionView struct {
	Text    string       `json:"text"`
	Place   string       `json:"place"` // cell or line of the table that the question is about
	Answers []AnswerView `json:"answers"`
}

// An AnswerView is a possible answer that the user can click.
type AnswerView struct {
	Text   string `json:"text"`
	Chosen bool   `json:"chosen"` // whether this answer applies at present
	Send   answer `json:"send"`   // answer that the page sends after the click
}

// A FaultView is an error in a table, with answers that would correct the error.
type FaultView struct {
	Message string       `json:"message"`
	Place   string       `json:"place"` // cell or line of the table with the error
	Hint    string       `json:"hint"`
	Answers []AnswerView `json:"answers"` // answers that correct the error
}

// A TargetView is something that may become an objective: a label of the recipes or an attribute of
// the ingredients.
type TargetView struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Summary string `json:"says"` // range of the numbers or list of the classes, and the number of recipes with a value, in words
	Why     string `json:"why"`  // reason why the target cannot become an objective; empty if it can

	Must       bool                   `json:"must"`      // whether the target must be an objective
	Attribute  bool                   `json:"attribute"` // whether the target is an attribute of the ingredients and not a label of the recipes
	Directions []config.Direction     `json:"ways"`      // possible directions of the objective, such as high or low
	Objective  compile.DraftObjective `json:"goal"`      // objective that is chosen now
	From       float64                `json:"from"`      // lower quartile of the values
	To         float64                `json:"to"`        // upper quartile of the values
	Least      float64                `json:"least"`     // least value of the label or attribute
	Most       float64                `json:"most"`      // greatest value of the label or attribute
	Classes    []string               `json:"classes"`
	First      compile.DraftObjective `json:"first"` // objective that is chosen when the user switches the target on
	Words      map[string]any         `json:"words"` // maps the name of a direction to the word that the page shows
}

// A BoundView is a constraint that the user can switch on and off.
type BoundView struct {
	Words   string       `json:"words"`
	On      bool         `json:"on"`      // whether the constraint is on
	Send    answer       `json:"send"`    // answer that the page sends to switch the constraint on or off
	Answers []AnswerView `json:"answers"` // further choices about the constraint
}

// view returns the contents of the setup page.
func (b *setup) view(ctx context.Context) (*SetupView, error) {
	v := &SetupView{Examples: exampleNames(), Tables: []TableView{}, Faults: []FaultView{}, Questions: []QuestionView{}, Notes: []string{}, Targets: []TargetView{}, Bounds: []BoundView{}, TableFromCommandLine: b.options.Table != ""}
	if !b.options.HidePaths {
		v.ProblemPath = b.options.Dir
	}
	u := b.tables[recipesTable]
	if u == nil {
		return v, nil
	}
	dir, name, _ := b.destination()
	if v.ProblemPath = filepath.Join(dir, name); b.options.HidePaths {
		v.ProblemPath = ""
	}
	r, err := b.readTables(ctx)
	if err != nil {
		return nil, err
	}
	b.addTableViews(ctx, v, r)
	b.addFaultViews(v, r)
	if r.draft != nil {
		b.collectQuestions(r.draft)
	}
	b.addQuestionViews(v, r.draft)
	if r.draft == nil || ctx.Err() != nil {
		return v, ctx.Err()
	}
	v.Ready = true
	b.addNoteViews(v, r)
	b.addRequirementViews(v, r)
	text, err := r.draft.Write()
	if err != nil {
		v.Faults, v.Ready = append(v.Faults, newFaultView(&inputerr.Error{Message: err.Error()})), false
		return v, nil
	}
	v.Text = string(text)
	v.Summary, _ = r.draft.Contents()
	return v, ctx.Err()
}

// addTableViews adds the first rows of each table to the view v, with the meaning of each cell.
func (b *setup) addTableViews(ctx context.Context, v *SetupView, reading *tableReading) {
	u := b.tables[recipesTable]
	layout := b.tableLayout
	var shape *dataset.Shape
	if reading.draft != nil && reading.draft.Book != nil {
		if shape = reading.draft.Book.Shape; shape != nil {
			layout.Sheet = shape.Sheet
			b.shownSheet = shape.Sheet
		}
	}
	if t, ok := newTableView(ctx, recipesTable, u, layout); ok {
		switch {
		case reading.draft != nil && reading.draft.Series != nil:
			setSeriesKinds(&t, reading.draft.Series)
		case shape != nil:
			b.setRecipeKinds(&t, shape, reading.draft)
		}
		for _, e := range inputerr.All(reading.recipesErr) {
			for k := range t.Rows {
				t.Rows[k].HasError = t.Rows[k].HasError || t.Rows[k].Line == e.Line && (e.Cell == "" || strings.HasPrefix(strings.Trim(e.Cell, "'"), t.Sheet))
			}
		}
		v.Tables = append(v.Tables, t)
	}
	in, layout := b.tables[ingredientsTable], dataset.Layout{}
	switch {
	case in != nil:
	case reading.sheet != "":
		in, layout.Sheet = u, reading.sheet
	case reading.asides != nil:
		in = &loadedTable{name: reading.draft.Ingredients, data: reading.asides}
	}
	if in == nil {
		return
	}
	if t, ok := newTableView(ctx, ingredientsTable, in, layout); ok {
		t.Sheets = []string{}
		if reading.ingredients != nil && len(reading.ingredients.Attributes) > 0 {
			setIngredientKinds(&t, reading.ingredients)
		}
		v.Tables = append(v.Tables, t)
	}
}

// newTableView returns the first rows of a table. The bool is false if the table cannot be read.
func newTableView(ctx context.Context, kind tableKind, table *loadedTable, layout dataset.Layout) (TableView, bool) {
	t := TableView{Kind: kind, Name: table.name, Rows: []RowView{}, Columns: []PickView{}, Sheets: []string{}}
	p, err := dataset.ReadPreview(table.open(ctx), table.name, layout, maxShownRows, maxShownColumns, maxCellBytes)
	if err != nil {
		return t, false
	}
	t.Sheet, t.More = p.Sheet, p.HasMoreRows
	if len(p.SheetNames) > 1 {
		t.Sheets = p.SheetNames
	}
	for k, row := range p.Rows {
		cells := make([]CellView, len(row))
		for i, text := range row {
			cells[i].Text = text
		}
		t.Rows = append(t.Rows, RowView{Line: p.RowLines[k], Cells: cells})
	}
	return t, true
}

// setCellKinds sets the meaning of each cell of the row that is not empty. The function cellKind
// returns the meaning for the index of a cell.
func (r *RowView) setCellKinds(cellKind func(field int) string) {
	for i := range r.Cells {
		if r.Cells[i].Text != "" {
			r.Cells[i].Kind = cellKind(i)
		}
	}
}

// setRecipeKinds sets the meaning of each cell in the view t of the table of recipes.
func (b *setup) setRecipeKinds(t *TableView, shape *dataset.Shape, draft *compile.Draft) {
	if !draft.Book.Transposed {
		t.Columns = append(t.Columns, newColumnPicks(shape, draft)...)
	}
	kinds := newColumnKinds(draft)
	for k := range t.Rows {
		row := &t.Rows[k]
		row.IsHeader = row.Line == shape.HeaderLine
		switch {
		case row.Line < shape.HeaderLine || isLeftOut(shape, row.Line):
			row.setCellKinds(func(int) string { return cellLeftOut })
			b.explainLeftOut(row, shape, draft)
		case draft.Book.Transposed && row.IsHeader:
			row.setCellKinds(func(i int) string {
				if i > shape.NameColumn {
					return cellName
				}
				return cellIngredient
			})
		case draft.Book.Transposed:
			b.setTransposedKinds(row, shape, kinds)
		default:
			row.setCellKinds(func(i int) string {
				if i >= len(shape.Columns) {
					return cellLeftOut
				}
				head, cell := kinds.cellKinds(shape.Columns[i])
				if row.IsHeader {
					return head
				}
				return cell
			})
		}
	}
}

// newColumnPicks returns, for each shown column, the roles that the user can choose.
func newColumnPicks(shape *dataset.Shape, draft *compile.Draft) (picks []PickView) {
	roles := []dataset.Role{dataset.RecipeColumn, dataset.IngredientColumn, dataset.LabelColumn, dataset.IgnoredColumn}
	if draft.Book.LongForm {
		roles = dataset.Roles()
	}
	for _, c := range shape.Columns[:min(len(shape.Columns), maxShownColumns)] {
		p := PickView{Name: c.Name, Role: c.Role, Roles: roles}
		if c.Name == "" {
			p.Roles = nil
		}
		picks = append(picks, p)
	}
	return picks
}

// setTransposedKinds sets the meaning of each cell in one row of a transposed table, that is, of a
// table with one recipe per column. The row must be below the header. If kir leaves the row out,
// setTransposedKinds also sets the reason.
func (b *setup) setTransposedKinds(row *RowView, shape *dataset.Shape, kinds columnKinds) {
	at := slices.Index(shape.RowLines, row.Line)
	if at < 0 || at >= len(shape.Columns) {
		row.setCellKinds(func(int) string { return cellLeftOut })
		return
	}
	column := shape.Columns[at]
	if column.Role == dataset.IgnoredColumn && column.Name != "" {
		row.Why, row.Restore = fmt.Sprintf("%s is left out, as it sums up others.", inputerr.Quote(column.Name)), &answer{Do: "column", Name: column.Name, Value: string(dataset.LabelColumn)}
		if b.tableLayout.Columns[dataset.NormalizeName(column.Name)] == dataset.IgnoredColumn {
			row.Why = fmt.Sprintf("You left out %s.", inputerr.Quote(column.Name))
		}
	}
	head, cell := kinds.cellKinds(column)
	row.setCellKinds(func(i int) string {
		switch {
		case i < shape.NameColumn:
			return cellLeftOut
		case i == shape.NameColumn:
			return head
		}
		return cell
	})
}

// A columnKinds computes the meaning of cells from the role of their column.
type columnKinds struct {
	isLong         bool                      // whether the table is long, that is, has one row per ingredient of a recipe
	targetsByLabel map[string]compile.Target // maps the name of a label to the objective that the label may become
}

// newColumnKinds returns the columnKinds for the table of recipes of the drafted problem d.
func newColumnKinds(d *compile.Draft) columnKinds {
	k := columnKinds{d.Book.LongForm, make(map[string]compile.Target)}
	for _, target := range d.Targets() {
		if !target.Attribute {
			k.targetsByLabel[target.Name] = target
		}
	}
	return k
}

// cellKinds returns two meanings for column c: that of the cell with the column's name, and that of
// the other cells.
func (k columnKinds) cellKinds(c dataset.Column) (headKind, cellKind string) {
	switch c.Role {
	case dataset.RecipeColumn:
		return cellName, cellName
	case dataset.IngredientColumn:
		if k.isLong {
			return cellIngredient, cellIngredient
		}
		return cellIngredient, cellAmount
	case dataset.AmountColumn, dataset.UnitColumn:
		return cellAmount, cellAmount
	case dataset.LabelColumn:
		switch target, ok := k.targetsByLabel[c.Name]; {
		case dataset.IsCostName(c.Name):
			return cellPrice, cellPrice
		case ok && len(target.Directions) == 0:
			return cellNote, cellNote
		}
		return cellResult, cellResult
	}
	return cellLeftOut, cellLeftOut
}

// explainLeftOut sets the reason why kir leaves out a row. If the user can include the row again,
// explainLeftOut also sets the answer for that.
func (b *setup) explainLeftOut(row *RowView, shape *dataset.Shape, draft *compile.Draft) {
	if row.Line < shape.HeaderLine {
		row.Why = "It stands above the names of the columns."
		return
	}
	if at := slices.IndexFunc(shape.Columns, func(c dataset.Column) bool { return c.Role == dataset.RecipeColumn }); at >= 0 && at < len(row.Cells) {
		if name := dataset.NormalizeName(row.Cells[at].Text); slices.Contains(b.tableLayout.Without, name) {
			row.Why, row.Restore = fmt.Sprintf("You left out %s.", inputerr.Quote(name)), &answer{Do: "row", Name: name}
			return
		}
	}
	if why, ok := shape.LeftOutAt(row.Line); ok {
		row.Why = toSentence("it is " + why)
	}
	_, notes := draft.Contents()
	for _, n := range notes {
		if n.Line != row.Line || !strings.Contains(n.Message, "left out") {
			continue
		}
		message, _, _ := strings.Cut(n.Message, ": including: ") // the page offers this as a button
		row.Why = toSentence(message)
		if n.RowLeftOut && n.QuestionableRow != "" {
			row.Restore = &answer{Do: "row", Name: n.QuestionableRow}
		}
	}
}

// isLeftOut reports whether the row at a line was left out.
func isLeftOut(shape *dataset.Shape, line int) bool {
	_, is := shape.LeftOutAt(line)
	return is
}

// setSeriesKinds sets the meaning of each cell in the view t of a table of prices or returns.
func setSeriesKinds(t *TableView, s *dataset.Series) {
	for k := range t.Rows {
		row := &t.Rows[k]
		row.IsHeader = len(row.Cells) > 1 && len(s.Columns) > 0 && dataset.NormalizeName(row.Cells[1].Text) == s.Columns[0]
		row.setCellKinds(func(i int) string {
			switch {
			case i == 0:
				return cellTime
			case row.IsHeader:
				return cellAsset
			}
			return cellValue
		})
	}
}

// setIngredientKinds sets the meaning of each cell in the view t of a table of ingredients.
func setIngredientKinds(t *TableView, in *dataset.Ingredients) {
	kinds := make(map[string]string)
	for i := range in.Attributes {
		a := &in.Attributes[i]
		kinds[a.Name] = map[dataset.Meaning]string{dataset.Price: cellPrice, dataset.Stock: cellStock, dataset.Maximum: cellLimit, dataset.Minimum: cellLimit, dataset.OtherNumber: cellResult, dataset.Group: cellGroup, dataset.OtherText: cellNote}[a.Meaning()]
	}
	header := slices.IndexFunc(t.Rows, func(r RowView) bool {
		return slices.ContainsFunc(r.Cells, func(c CellView) bool { return kinds[dataset.NormalizeName(c.Text)] != "" })
	})
	if header < 0 {
		return
	}
	t.Rows[header].IsHeader = true
	var columns []string
	for _, c := range t.Rows[header].Cells {
		kind := kinds[dataset.NormalizeName(c.Text)]
		if kind == "" && c.Text != "" {
			kind = cellIngredient
		}
		columns = append(columns, kind)
	}
	for k := range t.Rows {
		t.Rows[k].setCellKinds(func(i int) string {
			if k < header || i >= len(columns) || columns[i] == "" {
				return cellLeftOut
			}
			return columns[i]
		})
	}
}

// fixAnswers returns the answers that do what a fix in the hint of an error does.
func fixAnswers(f dataset.Fix) (answers []AnswerView) {
	add := func(text string, send answer) { answers = append(answers, AnswerView{Text: text, Send: send}) }
	if f.Unit != "" {
		size, unit, _ := strings.Cut(f.Size, " ")
		sizes := []string{size}
		if size == "9" { // an example
			sizes = []string{"1", "3", "6", "9", "12"}
		}
		for _, size := range sizes {
			size += " " + unit
			add(inputerr.Quote(f.Unit)+" is "+size, answer{Do: "size", Name: f.Unit, Value: size})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Layout.Columns)) {
		role := f.Layout.Columns[name]
		if role != dataset.IgnoredColumn {
			add(inputerr.Quote(name)+" is "+roleWords[role], answer{Do: "column", Name: name, Value: string(role)})
		}
		if role == dataset.IgnoredColumn || role == dataset.LabelColumn {
			add("Leave the column "+inputerr.Quote(name)+" out", answer{Do: "column", Name: name, Value: string(dataset.IgnoredColumn)})
		}
	}
	for name, as := range f.Layout.Names {
		text := inputerr.Quote(name) + " is " + inputerr.Quote(as)
		if as == name+" (2)" {
			text = "They are two ingredients"
		}
		add(text, answer{Do: "names", Name: name, Value: as, On: true})
	}
	for _, text := range f.Layout.Unknown {
		add(inputerr.Quote(text)+" means not measured", answer{Do: "unknown", Name: text, On: true})
	}
	for _, name := range f.Layout.Without {
		add("Leave "+inputerr.Quote(name)+" out", answer{Do: "row", Name: name, On: true})
	}
	if mark := f.Layout.Decimal; mark != measure.AnyDecimal {
		add("The decimal mark is the "+mark.String(), answer{Do: "decimal", Value: mark.String()})
	}
	if name := f.Layout.Sheet; name != "" {
		add("Read sheet "+inputerr.Quote(name), answer{Do: "sheet", Value: name})
	}
	if name := f.Layout.Encoding; name != "" {
		add("The encoding is "+name, answer{Do: "encoding", Value: name})
	}
	return answers
}

// addFaultViews adds the errors in the tables to the view v, together with answers that would
// correct them.
func (b *setup) addFaultViews(v *SetupView, reading *tableReading) {
	all := inputerr.All(reading.recipesErr)
	for _, e := range all[:min(len(all), maxShownFaults)] {
		f := newFaultView(e)
		hint, fixes := dataset.Fixes(e)
		hasSize := false // one unit, in several sizes
		for _, fix := range fixes {
			if fix.Unit == "" || !hasSize {
				f.Answers = append(f.Answers, fixAnswers(fix)...)
			}
			hasSize = hasSize || fix.Unit != ""
		}
		if len(f.Answers) > 0 {
			f.Hint = toSentence(hint)
		}
		v.Faults = append(v.Faults, f)
	}
	if more := len(all) - maxShownFaults; more > 0 {
		v.Faults = append(v.Faults, FaultView{Message: fmt.Sprintf("%d more like these", more), Answers: []AnswerView{}})
	}
	for _, e := range inputerr.All(reading.ingredientsErr) {
		v.Faults = append(v.Faults, newFaultView(e))
	}
	if b.tables[ingredientsTable] != nil && len(v.Faults) > 0 {
		last := &v.Faults[len(v.Faults)-1]
		last.Answers = append(last.Answers, AnswerView{Text: "Leave out " + inputerr.Quote(b.tables[ingredientsTable].name), Send: answer{Do: "alone"}})
	}
}

// newFaultView returns what the page shows of an error in a table, without answers.
func newFaultView(e *inputerr.Error) FaultView {
	return FaultView{Message: toSentence(e.Message), Place: placeText(e.Cell, e.Line), Hint: toSentence(e.Hint), Answers: []AnswerView{}}
}

// placeText returns the cell of an error. If the cell is unknown, it returns the line in words.
func placeText(cell string, line int) string {
	if cell == "" && line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return cell
}

// toSentence returns a message as a sentence, with a capital letter and, unless it is a question, a full stop.
func toSentence(text string) string {
	if text == "" {
		return ""
	}
	first := []rune(text)[0]
	text = strings.ToUpper(string(first)) + text[len(string(first)):]
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// roleWords maps each role of a column to the word that the page shows.
var roleWords = map[dataset.Role]string{
	dataset.RecipeColumn: "the recipe", dataset.IngredientColumn: "an ingredient", dataset.AmountColumn: "the amount",
	dataset.UnitColumn: "the unit", dataset.LabelColumn: "a result", dataset.IgnoredColumn: "left out",
}

// collectQuestions stores one question for each assumption about the tables that the user can
// change. A question that is already stored stays unchanged.
func (b *setup) collectQuestions(draft *compile.Draft) {
	_, notes := draft.Contents()
	var all []tableQuestion
	for _, n := range notes {
		switch {
		case n.AboutOrigin: // asked from the columns as they are
		case strings.HasPrefix(n.Setting, "decimal:"):
			all = append(all, tableQuestion{setting: decimalSetting, message: n.Message, place: placeText(n.Cell, n.Line)})
		case strings.HasPrefix(n.Setting, "encoding:"):
			all = append(all, tableQuestion{setting: encodingSetting, message: n.Message + ". Are all letters right?"})
		case n.AmbiguousColumn != "":
			all = append(all, tableQuestion{column: n.AmbiguousColumn, hasBounds: n.LikelyRole == dataset.IgnoredColumn, turned: isAboutForm(&n), message: n.Message})
		case n.Spelling != "":
			all = append(all, tableQuestion{spelling: n.Spelling, otherSpelling: n.OtherSpelling, assumedSameIngredient: true, message: fmt.Sprintf("are %s and %s the same?", inputerr.Quote(n.OtherSpelling), inputerr.Quote(n.Spelling))})
		case n.QuestionableRow != "":
			all = append(all, tableQuestion{row: n.QuestionableRow, leftOutByDefault: n.RowLeftOut, message: fmt.Sprintf("is %s a recipe, or does it sum up others?", inputerr.Quote(n.QuestionableRow))})
		}
	}
	if draft.Book != nil && draft.Book.LongForm && draft.Ingredients == "" {
		for _, pair := range draft.Book.Misspellings() {
			all = append(all, tableQuestion{spelling: pair[1], otherSpelling: pair[0], message: fmt.Sprintf("are %s and %s the same?", inputerr.Quote(pair[0]), inputerr.Quote(pair[1]))})
		}
	}
	for _, o := range draft.Offers {
		for _, near := range o.Near {
			all = append(all, tableQuestion{spelling: near.InRecipes, otherSpelling: near.InSheet, message: fmt.Sprintf("is %s the %s of sheet %s?", inputerr.Quote(near.InRecipes), inputerr.Quote(near.InSheet), inputerr.Quote(o.Sheet))})
		}
	}
	if draft.Book != nil {
		for _, use := range draft.Book.LooseUnits() {
			all = append(all, tableQuestion{unit: use.Name, sizes: use.SizeChoices, message: fmt.Sprintf("how much is 1 %s? There is no standard size, and %s it", use.Name, recipesUseText(use.Recipes))})
		}
	}
	for _, a := range all {
		b.keepQuestion(a)
	}
}

// isAboutForm reports whether a note is about whether each row of a table is a recipe, or each column.
func isAboutForm(n *dataset.Note) bool {
	return n.AssumedRole == dataset.IngredientColumn && n.LikelyRole == dataset.RecipeColumn || n.AssumedRole == dataset.RecipeColumn && n.LikelyRole == dataset.IngredientColumn
}

// addQuestionViews adds all stored questions, even answered questions, to the view v. The drafted
// problem is nil if the table cannot be read, which a wrong answer may have caused.
func (b *setup) addQuestionViews(v *SetupView, draft *compile.Draft) {
	for _, a := range b.questions {
		q := QuestionView{Text: toSentence(a.message), Answers: []AnswerView{}}
		switch {
		case a.spelling != "":
			to, said := b.tableLayout.Names[dataset.NormalizeName(a.spelling)]
			same := said && to == a.otherSpelling || !said && a.assumedSameIngredient
			apart := answer{Do: "names", Name: a.spelling, Value: a.spelling}
			if a.assumedSameIngredient { // case alone does not distinguish ingredients
				apart.Value, apart.On = a.spelling+" (2)", true
			}
			q.Answers = append(q.Answers, AnswerView{Text: "The same", Chosen: same, Send: answer{Do: "names", Name: a.spelling, Value: a.otherSpelling, On: !a.assumedSameIngredient}},
				AnswerView{Text: "Two ingredients", Chosen: !same, Send: apart})
		case a.unknown != "":
			is := slices.Contains(b.tableLayout.Unknown, a.unknown)
			q.Answers = append(q.Answers, AnswerView{Text: "Not measured", Chosen: is, Send: answer{Do: "unknown", Name: a.unknown, On: true}},
				AnswerView{Text: "A result", Chosen: !is, Send: answer{Do: "unknown", Name: a.unknown}})
		case a.row != "":
			out := slices.Contains(b.tableLayout.Without, a.row) || a.leftOutByDefault && !slices.Contains(b.tableLayout.Including, a.row)
			q.Answers = append(q.Answers, AnswerView{Text: "A recipe", Chosen: !out, Send: answer{Do: "row", Name: a.row}},
				AnswerView{Text: "Leave it out", Chosen: out, Send: answer{Do: "row", Name: a.row, On: true}})
		case a.setting == decimalSetting:
			q.Place = a.place
			is := b.tableLayout.Decimal
			if is == measure.AnyDecimal && draft != nil {
				is = draft.Layout.Decimal
			}
			for _, mark := range []measure.Decimal{measure.DecimalPoint, measure.DecimalComma} {
				q.Answers = append(q.Answers, AnswerView{Text: "The decimal mark is the " + mark.String(), Chosen: is == mark, Send: answer{Do: "decimal", Value: mark.String()}})
			}
		case a.setting == encodingSetting:
			is := b.tableLayout.Encoding
			if is == "" && draft != nil {
				is = draft.Layout.Encoding
			}
			for _, name := range compile.Encodings {
				q.Answers = append(q.Answers, AnswerView{Text: encodingWords[name], Chosen: is == name, Send: answer{Do: "encoding", Value: name}})
			}
		case a.unit != "":
			is := b.unitSizes[a.unit]
			if is == "" && draft != nil && draft.Book != nil {
				for _, use := range draft.Book.LooseUnits() {
					if use.Name == a.unit {
						is = use.Size
					}
				}
			}
			for _, size := range a.sizes {
				q.Answers = append(q.Answers, AnswerView{Text: size, Chosen: is == size, Send: answer{Do: "size", Name: a.unit, Value: size}})
			}
		default:
			is, ok := b.tableLayout.Columns[dataset.NormalizeName(a.column)]
			if draft != nil && draft.Book != nil && draft.Book.Shape != nil {
				i := slices.IndexFunc(draft.Book.Shape.Columns, func(c dataset.Column) bool { return c.Name == a.column })
				switch ok = i >= 0; {
				case ok:
					is = draft.Book.Shape.Columns[i].Role
				case a.turned && draft.Book.Transposed: // the column of the ingredients' names, which is turned into a row
					is, ok = dataset.IngredientColumn, true
				}
			}
			if !ok {
				continue
			}
			if a.turned {
				q.Answers = append(q.Answers, AnswerView{Text: "A column is a recipe", Chosen: is == dataset.IngredientColumn, Send: answer{Do: "column", Name: a.column, Value: string(dataset.IngredientColumn)}},
					AnswerView{Text: "A row is a recipe", Chosen: is == dataset.RecipeColumn, Send: answer{Do: "column", Name: a.column, Value: string(dataset.RecipeColumn)}})
				break
			}
			for _, role := range []dataset.Role{dataset.LabelColumn, dataset.IngredientColumn, dataset.IgnoredColumn, dataset.RecipeColumn} {
				if a.hasBounds && role != dataset.LabelColumn && role != dataset.IgnoredColumn {
					continue
				}
				if role == dataset.RecipeColumn && is != role && !strings.Contains(a.message, "the recipe") {
					continue
				}
				q.Answers = append(q.Answers, AnswerView{Text: strings.ToUpper(roleWords[role][:1]) + roleWords[role][1:], Chosen: is == role, Send: answer{Do: "column", Name: a.column, Value: string(role)}})
			}
		}
		v.Questions = append(v.Questions, q)
	}
}

// addNoteViews adds to the view v how the tables are understood. If the user can choose, it adds a
// question, and otherwise a note.
func (b *setup) addNoteViews(v *SetupView, reading *tableReading) {
	d := reading.draft
	_, notes := d.Contents()
	for _, n := range notes {
		switch {
		case n.AmbiguousColumn != "" || n.Spelling != "" || n.QuestionableRow != "" || n.AboutOrigin:
		case strings.HasPrefix(n.Setting, "decimal:") || strings.HasPrefix(n.Setting, "encoding:") || strings.HasPrefix(n.Setting, "units:"): // asked with the stored questions
		case strings.HasPrefix(n.Setting, "sheet:"): // the page shows the sheets above the table
		default:
			text := toSentence(n.Message)
			if place := placeText(n.Cell, n.Line); place != "" {
				text += " (" + place + ")"
			}
			v.Notes = append(v.Notes, text)
		}
	}
	for _, q := range d.OriginQuestions() {
		v.Questions = append(v.Questions, QuestionView{Text: inputerr.Quote(q.Column) + ": Did you set it, or measure it?", Answers: []AnswerView{
			{Text: "Set", Chosen: q.Set, Send: answer{Do: "set", Name: q.Column, On: true}},
			{Text: "Measured", Chosen: !q.Set, Send: answer{Do: "set", Name: q.Column}},
		}})
	}
	for _, o := range d.Offers {
		b.addOffer(v, reading, &o)
	}
	if reading.asidesText != "" {
		v.Questions = append(v.Questions, QuestionView{Text: toSentence(reading.asidesText) + " Use it as a table of the ingredients?",
			Answers: newOfferAnswers(reading.asides != nil, answer{Do: "asides"})})
	}
	if reading.dilutionsText != "" {
		v.Questions = append(v.Questions, QuestionView{Text: toSentence(reading.dilutionsText) + " Use a table of what dilutions consist of (constituents)?",
			Answers: newOfferAnswers(reading.constituents != nil, answer{Do: "dilutions"})})
	}
}

// addOffer adds the offer of a sheet that lists the ingredients to the view v: a question if it lists all of them, and
// otherwise a note.
func (b *setup) addOffer(v *SetupView, reading *tableReading, o *compile.IngredientsOffer) {
	if len(o.Lacking) > 0 {
		v.Notes = append(v.Notes, toSentence(o.Text())+" kir can use it once it lists all ingredients.")
		return
	}
	v.Questions = append(v.Questions, QuestionView{Text: toSentence(o.Text()) + " Use it as a table of the ingredients?",
		Answers: newOfferAnswers(reading.sheet == o.Sheet, answer{Do: "shelf", Name: o.Sheet})})
}

// newOfferAnswers returns the answers to an offer. The answer a uses the offer if its field On is true.
func newOfferAnswers(isUsed bool, a answer) []AnswerView {
	use, leave := a, a
	use.On = true
	return []AnswerView{{Text: "Use it", Chosen: isUsed, Send: use}, {Text: "Leave it out", Chosen: !isUsed, Send: leave}}
}

// encodingWords maps the encodings that the page offers to words.
var encodingWords = map[string]string{
	"windows-1252": "Western (Windows)", "windows-1250": "Central European (Windows)", "windows-1251": "Cyrillic (Windows)", "macintosh": "Western (Mac)",
}

// recipesUseText returns the words "1 recipe uses" or "n recipes use".
func recipesUseText(n int) string {
	if n == 1 {
		return "1 recipe uses"
	}
	return fmt.Sprintf("%d recipes use", n)
}

// directionWords maps each direction of an objective to the word that the page shows.
var directionWords = map[config.Direction]string{
	config.Maximize: "High", config.Minimize: "Low", config.Between: "Within",
	compile.WantClass: "Want", compile.SureClass: "≥ 90 % likely",
	compile.Ratio: "Return per risk", compile.Frontier: "Trade-off of both", compile.Return: "Return alone", compile.Volatility: "Least risk",
}

// recipesWithResult says how many of all recipes have a result.
func recipesWithResult(known, all int) string {
	if known == all {
		return "all " + inputerr.Count(all, "recipe")
	}
	return fmt.Sprintf("%d of %s", known, inputerr.Count(all, "recipe"))
}

// addRequirementViews adds the possible objectives and constraints of the problem to the view v.
func (b *setup) addRequirementViews(v *SetupView, reading *tableReading) {
	d := reading.draft
	for _, t := range d.Targets() {
		w := TargetView{Key: t.Key, Name: t.Name, Why: t.Why, Attribute: t.Attribute, Directions: t.Directions, Objective: t.Objective, From: t.From, To: t.To, Least: t.Least, Most: t.Most, Classes: t.Classes, Words: make(map[string]any)}
		for _, way := range t.Directions {
			w.Words[string(way)] = directionWords[way]
		}
		if w.Directions == nil {
			w.Directions = []config.Direction{}
		} else {
			w.First = t.DefaultObjective()
		}
		if w.Classes == nil {
			w.Classes = []string{}
		}
		switch {
		case d.Series != nil:
			w.Must = true
			w.Name, w.Summary = "The portfolio", inputerr.Count(t.Known, "row")+" of prices or returns"
		case t.Attribute:
			w.Summary = fmt.Sprintf("of the ingredients: %v to %v", t.Least, t.Most)
		case len(t.Classes) > 0:
			w.Summary = "Known for " + recipesWithResult(t.Known, len(d.Book.Recipes))
		case t.Why == "":
			w.Summary = fmt.Sprintf("%v to %v, known for %s", t.Least, t.Most, recipesWithResult(t.Known, len(d.Book.Recipes)))
		}
		v.Targets = append(v.Targets, w)
	}
	for _, o := range d.OfferedBounds() {
		view := BoundView{Words: o.Words, On: o.On, Send: answer{Do: "bound", Name: o.Key, On: !o.On}, Answers: []AnswerView{}}
		if o.Key == compile.StockBoundKey {
			for k, batch := range d.Batches() {
				view.Answers = append(view.Answers, AnswerView{Text: "for " + batch, Chosen: batch == b.stockBatch || b.stockBatch == "" && k == 0, Send: answer{Do: "batch", Value: batch}})
			}
		}
		v.Bounds = append(v.Bounds, view)
	}
	if d.Book != nil && slices.ContainsFunc(d.Targets(), func(t compile.Target) bool { return t.Objective.Direction != compile.NoDirection && !t.Attribute }) {
		at := QuestionView{Text: "How many recipes do you make per batch?", Answers: []AnswerView{}}
		for _, n := range []int{3, 5, 8, 12} {
			at.Answers = append(at.Answers, AnswerView{Text: strconv.Itoa(n), Chosen: n == d.BatchSize(), Send: answer{Do: "round", Value: strconv.Itoa(n)}})
		}
		v.Round = &at
		v.Bounds = append(v.Bounds, BoundView{Words: "Favour familiar combinations where predictions are weak", On: !b.noPairObjective, Send: answer{Do: "pairs", On: b.noPairObjective}, Answers: []AnswerView{}})
	}
}
