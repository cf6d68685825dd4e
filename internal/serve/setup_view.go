package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// Limits of the view of a table.
const (
	shownRows    = 60
	shownColumns = 60
	shownBytes   = 80
	mostFaults   = 8
	mostAsked    = 40
)

// A SetupView is the page's view of a setup.
type SetupView struct {
	Where     string         `json:"where"` // the file that will be written
	Examples  []ExampleName  `json:"examples"`
	Tables    []TableView    `json:"tables"`
	Summary   string         `json:"says"` // summary of the tables
	Faults    []FaultView    `json:"faults"`
	Questions []QuestionView `json:"asks"`
	Notes     []string       `json:"left"` // notes on how the tables were understood that are no questions
	Targets   []TargetView   `json:"targets"`
	Bounds    []BoundView    `json:"bounds"`
	Round     *QuestionView  `json:"round"` // number of recipes made at a time; nil if nothing is measured
	Text      string         `json:"text"`
	Ready     bool           `json:"ready"`
	Named     bool           `json:"named"` // the table is a file named on the command line
}

// A TableView is a table with the interpretation of its cells.
type TableView struct {
	Kind    tableKind  `json:"of"`
	Name    string     `json:"name"`
	Sheet   string     `json:"sheet"`
	Sheets  []string   `json:"sheets"`
	Columns []PickView `json:"columns"` // the possible roles of each column, by field
	Rows    []RowView  `json:"rows"`
	More    bool       `json:"more"`
}

// A PickView is a column with its possible roles.
type PickView struct {
	Name  string         `json:"name"`
	Role  dataset.Role   `json:"role"`
	Roles []dataset.Role `json:"roles"`
}

// A RowView is a row of a table.
type RowView struct {
	Line    int        `json:"line"`
	Head    bool       `json:"head"`
	Wrong   bool       `json:"wrong"` // a cell in it cannot be read
	Why     string     `json:"why"`   // reason why the row is left out; empty if it is not
	Restore *answer    `json:"back"`  // the answer that includes the row; nil if there is none
	Cells   []CellView `json:"cells"`
}

// A CellView is a cell with its interpretation.
type CellView struct {
	Text string `json:"t"`
	Kind string `json:"k"`
}

// Interpretations of cells.
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
	cellValue      = "value" // a price or a return
	cellLeftOut    = "left"
)

// A QuestionView is a guess about the tables, with the alternatives.
type QuestionView struct {
	Text    string       `json:"text"`
	Place   string       `json:"place"`
	Answers []AnswerView `json:"answers"`
}

// An AnswerView is an answer that a person can click.
type AnswerView struct {
	Text   string `json:"text"`
	Chosen bool   `json:"chosen"`
	Send   answer `json:"send"`
}

// A FaultView is an error in a table, with answers that correct it.
type FaultView struct {
	Message string       `json:"message"`
	Place   string       `json:"place"`
	Hint    string       `json:"hint"`
	Answers []AnswerView `json:"answers"`
}

// A TargetView is a label or attribute that could be an objective.
type TargetView struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Summary string `json:"says"` // range of its numbers or its classes, and the number of recipes with a value
	Why     string `json:"why"`  // reason why it cannot be an objective

	Must       bool                   `json:"must"` // it cannot be deselected as an objective
	Attribute  bool                   `json:"attribute"`
	Directions []config.Direction     `json:"ways"`
	Objective  compile.DraftObjective `json:"goal"`
	From       float64                `json:"from"`
	To         float64                `json:"to"`
	Least      float64                `json:"least"`
	Most       float64                `json:"most"`
	Classes    []string               `json:"classes"`
	First      compile.DraftObjective `json:"first"`
	Words      map[string]any         `json:"words"` // labels of Ways
}

// A BoundView is a constraint that can be switched on and off.
type BoundView struct {
	Words   string       `json:"words"`
	On      bool         `json:"on"`
	Send    answer       `json:"send"`
	Answers []AnswerView `json:"answers"` // further settings of the constraint
}

// view returns the page's view of the setup.
func (b *setup) view(ctx context.Context) (*SetupView, error) {
	v := &SetupView{Where: b.options.Dir, Examples: exampleNames(), Tables: []TableView{}, Faults: []FaultView{}, Questions: []QuestionView{}, Notes: []string{}, Targets: []TargetView{}, Bounds: []BoundView{}, Named: b.options.Table != ""}
	u := b.tables[recipesTable]
	if u == nil {
		return v, nil
	}
	dir, name, _ := b.destination()
	v.Where = filepath.Join(dir, name)
	r, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	b.showTables(ctx, v, r)
	b.showFaults(v, r)
	if r.draft != nil {
		b.collectQuestions(r.draft)
	}
	b.showQuestions(v, r.draft)
	if r.draft == nil || ctx.Err() != nil {
		return v, ctx.Err()
	}
	v.Ready = true
	b.showNotes(v, r)
	b.showRequirements(v, r)
	text, err := r.draft.Write()
	if err != nil {
		v.Faults, v.Ready = append(v.Faults, faultView(&inputerr.Error{Message: err.Error()})), false
		return v, nil
	}
	v.Text = string(text)
	v.Summary, _ = r.draft.Contents()
	return v, ctx.Err()
}

// showTables adds the tables with the interpretation of their cells.
func (b *setup) showTables(ctx context.Context, v *SetupView, r *tableReading) {
	u := b.tables[recipesTable]
	layout := b.layout
	var shape *dataset.Shape
	if r.draft != nil && r.draft.Book != nil {
		if shape = r.draft.Book.Shape; shape != nil {
			layout.Sheet = shape.Sheet
		}
	}
	if t, ok := tableOf(ctx, recipesTable, u, layout); ok {
		switch {
		case r.draft != nil && r.draft.Series != nil:
			setSeriesKinds(&t, r.draft.Series)
		case shape != nil:
			b.setRecipeKinds(&t, shape, r.draft)
		}
		for _, e := range inputerr.All(r.err) {
			for k := range t.Rows {
				t.Rows[k].Wrong = t.Rows[k].Wrong || t.Rows[k].Line == e.Line && (e.Cell == "" || strings.HasPrefix(strings.Trim(e.Cell, "'"), t.Sheet))
			}
		}
		v.Tables = append(v.Tables, t)
	}
	in, layout := b.tables[ingredientsTable], dataset.Layout{}
	if in == nil && r.draft != nil && r.draft.Ingredients != "" {
		in, layout.Sheet = u, r.sheet
	}
	if in == nil {
		return
	}
	if t, ok := tableOf(ctx, ingredientsTable, in, layout); ok {
		t.Sheets = []string{}
		if r.ingredients != nil && len(r.ingredients.Attributes) > 0 {
			setIngredientKinds(&t, r.ingredients)
		}
		v.Tables = append(v.Tables, t)
	}
}

// tableOf returns the first rows of a table.
func tableOf(ctx context.Context, of tableKind, u *upload, layout dataset.Layout) (TableView, bool) {
	t := TableView{Kind: of, Name: u.name, Rows: []RowView{}, Columns: []PickView{}, Sheets: []string{}}
	p, err := dataset.ReadPreview(u.open(ctx), u.name, layout, shownRows, shownColumns, shownBytes)
	if err != nil {
		return t, false
	}
	t.Sheet, t.More = p.Sheet, p.More
	if len(p.Sheets) > 1 {
		t.Sheets = p.Sheets
	}
	for k, row := range p.Rows {
		cells := make([]CellView, len(row))
		for i, text := range row {
			cells[i].Text = text
		}
		t.Rows = append(t.Rows, RowView{Line: p.Lines[k], Cells: cells})
	}
	return t, true
}

// setKinds sets the interpretation of a row's cells.
func (r *RowView) setKinds(kind func(field int) string) {
	for i := range r.Cells {
		if r.Cells[i].Text != "" {
			r.Cells[i].Kind = kind(i)
		}
	}
}

// setRecipeKinds sets the interpretation of the cells of recipes.
func (b *setup) setRecipeKinds(t *TableView, s *dataset.Shape, d *compile.Draft) {
	if !d.Book.Transposed {
		t.Columns = append(t.Columns, columnPicks(s, d)...)
	}
	kinds := newColumnKinds(d)
	for k := range t.Rows {
		row := &t.Rows[k]
		row.Head = row.Line == s.Header
		switch {
		case row.Line < s.Header || slices.Contains(s.Left, row.Line):
			row.setKinds(func(int) string { return cellLeftOut })
			b.explain(row, s, d)
		case d.Book.Transposed && row.Head:
			row.setKinds(func(i int) string {
				if i > s.Named {
					return cellName
				}
				return cellIngredient
			})
		case d.Book.Transposed:
			b.setTransposedKinds(row, s, kinds)
		default:
			row.setKinds(func(i int) string {
				if i >= len(s.Columns) {
					return cellLeftOut
				}
				head, cell := kinds.cellKinds(s.Columns[i])
				if row.Head {
					return head
				}
				return cell
			})
		}
	}
}

// columnPicks returns the choices of a role for the columns shown.
func columnPicks(s *dataset.Shape, d *compile.Draft) (picks []PickView) {
	roles := []dataset.Role{dataset.RecipeColumn, dataset.IngredientColumn, dataset.LabelColumn, dataset.IgnoredColumn}
	if d.Book.Long {
		roles = dataset.Roles()
	}
	for _, c := range s.Columns[:min(len(s.Columns), shownColumns)] {
		p := PickView{Name: c.Name, Role: c.Role, Roles: roles}
		if c.Name == "" {
			p.Roles = nil
		}
		picks = append(picks, p)
	}
	return picks
}

// setTransposedKinds sets the interpretation of the cells of a row below the header of a table with
// a column a recipe. It says why the row is left out if it is.
func (b *setup) setTransposedKinds(row *RowView, s *dataset.Shape, kinds columnKinds) {
	at := slices.Index(s.Lines, row.Line)
	if at < 0 || at >= len(s.Columns) {
		row.setKinds(func(int) string { return cellLeftOut })
		return
	}
	column := s.Columns[at]
	if column.Role == dataset.IgnoredColumn && column.Name != "" {
		row.Why, row.Restore = fmt.Sprintf("%s is left out, as one that sums up others.", inputerr.Quote(column.Name)), &answer{Do: "column", Name: column.Name, Value: string(dataset.LabelColumn)}
		if b.layout.Columns[dataset.NormalizeName(column.Name)] == dataset.IgnoredColumn {
			row.Why = fmt.Sprintf("You left out %s.", inputerr.Quote(column.Name))
		}
	}
	head, cell := kinds.cellKinds(column)
	row.setKinds(func(i int) string {
		switch {
		case i < s.Named:
			return cellLeftOut
		case i == s.Named:
			return head
		}
		return cell
	})
}

// columnKinds finds the interpretation of cells by their column.
type columnKinds struct {
	long    bool                      // the table is long
	targets map[string]compile.Target // the labels that an objective can have, by name
}

func newColumnKinds(d *compile.Draft) columnKinds {
	k := columnKinds{d.Book.Long, make(map[string]compile.Target)}
	for _, target := range d.Targets() {
		if !target.Attribute {
			k.targets[target.Name] = target
		}
	}
	return k
}

// cellKinds returns the interpretation of a column's name and of its other cells.
func (k columnKinds) cellKinds(c dataset.Column) (head, cell string) {
	switch c.Role {
	case dataset.RecipeColumn:
		return cellName, cellName
	case dataset.IngredientColumn:
		if k.long {
			return cellIngredient, cellIngredient
		}
		return cellIngredient, cellAmount
	case dataset.AmountColumn, dataset.UnitColumn:
		return cellAmount, cellAmount
	case dataset.LabelColumn:
		switch target, ok := k.targets[c.Name]; {
		case dataset.IsCost(c.Name):
			return cellPrice, cellPrice
		case ok && len(target.Directions) == 0:
			return cellNote, cellNote
		}
		return cellResult, cellResult
	}
	return cellLeftOut, cellLeftOut
}

// explain says why a row is left out. If a person left it out, explain also adds the answer
// that includes it.
func (b *setup) explain(row *RowView, s *dataset.Shape, d *compile.Draft) {
	if row.Line < s.Header {
		row.Why = "It stands above the names of the columns."
		return
	}
	if at := slices.IndexFunc(s.Columns, func(c dataset.Column) bool { return c.Role == dataset.RecipeColumn }); at >= 0 && at < len(row.Cells) {
		if name := dataset.NormalizeName(row.Cells[at].Text); slices.Contains(b.layout.Without, name) {
			row.Why, row.Restore = fmt.Sprintf("You left out %s.", inputerr.Quote(name)), &answer{Do: "row", Name: name}
			return
		}
	}
	row.Why = "It has a text alone, or belongs to a recipe that is left out."
	_, notes := d.Contents()
	for _, n := range notes {
		if n.Line != row.Line || !strings.Contains(n.Message, "left out") {
			continue
		}
		message, _, _ := strings.Cut(n.Message, ": including: ") // the page offers this as a button
		row.Why = sentence(message)
		if n.Left && n.Row != "" {
			row.Restore = &answer{Do: "row", Name: n.Row}
		}
	}
}

// setSeriesKinds sets the interpretation of the cells of a table of prices or returns.
func setSeriesKinds(t *TableView, s *dataset.Series) {
	for k := range t.Rows {
		row := &t.Rows[k]
		row.Head = len(row.Cells) > 1 && len(s.Columns) > 0 && dataset.NormalizeName(row.Cells[1].Text) == s.Columns[0]
		row.setKinds(func(i int) string {
			switch {
			case i == 0:
				return cellTime
			case row.Head:
				return cellAsset
			}
			return cellValue
		})
	}
}

// setIngredientKinds sets the interpretation of the cells of a table of ingredients.
func setIngredientKinds(t *TableView, in *dataset.Ingredients) {
	kinds := make(map[string]string)
	for i := range in.Attributes {
		a := &in.Attributes[i]
		kinds[a.Name] = map[dataset.Meaning]string{dataset.Price: cellPrice, dataset.Stock: cellStock, dataset.Maximum: cellLimit, dataset.Minimum: cellLimit, dataset.Figure: cellResult, dataset.Group: cellGroup, dataset.Remark: cellNote}[a.Meaning()]
	}
	header := slices.IndexFunc(t.Rows, func(r RowView) bool {
		return slices.ContainsFunc(r.Cells, func(c CellView) bool { return kinds[dataset.NormalizeName(c.Text)] != "" })
	})
	if header < 0 {
		return
	}
	t.Rows[header].Head = true
	var columns []string
	for _, c := range t.Rows[header].Cells {
		kind := kinds[dataset.NormalizeName(c.Text)]
		if kind == "" && c.Text != "" {
			kind = cellIngredient
		}
		columns = append(columns, kind)
	}
	for k := range t.Rows {
		t.Rows[k].setKinds(func(i int) string {
			if k < header || i >= len(columns) || columns[i] == "" {
				return cellLeftOut
			}
			return columns[i]
		})
	}
}

// settles are the forms in which hints name a setting of the problem that settles a question.
var (
	settlesColumn  = regexp.MustCompile(`\bcolumns: \{("(?:[^"\\]|\\.)*"|[^"{}:]+): ([a-z]+)\}`)
	settlesSize    = regexp.MustCompile(`\bunits: \{("(?:[^"\\]|\\.)*"|[^"{}:]+): ([0-9.]+ [a-z]+)\}`)
	settlesName    = regexp.MustCompile(`\bnames: \{("(?:[^"\\]|\\.)*"|[^"{}:]+): ("(?:[^"\\]|\\.)*"|[^"{}]+)\}`)
	settlesRow     = regexp.MustCompile(`\bwithout: \[("(?:[^"\\]|\\.)*"|[^"\[\]]*)\]`)
	sumsToNone     = regexp.MustCompile(`^the amounts of ("(?:[^"\\]|\\.)*") add up to 0$`)
	settlesDecimal = regexp.MustCompile(`\bdecimal: (point|comma)`)
)

// unquoted returns a name from the text of a hint.
func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// showFaults adds the errors in the tables, with the answers that correct them.
func (b *setup) showFaults(v *SetupView, r *tableReading) {
	all := inputerr.All(r.err)
	for _, e := range all[:min(len(all), mostFaults)] {
		f := faultView(e)
		for _, m := range settlesColumn.FindAllStringSubmatch(e.Hint, -1) {
			name := unquoted(m[1])
			if m[2] == string(dataset.IgnoredColumn) {
				f.Answers = append(f.Answers, AnswerView{Text: "Leave the column " + inputerr.Quote(name) + " out", Send: answer{Do: "column", Name: name, Value: m[2]}})
				continue
			}
			f.Answers = append(f.Answers, AnswerView{Text: inputerr.Quote(name) + " is " + roleWords[dataset.Role(m[2])], Send: answer{Do: "column", Name: name, Value: m[2]}})
			if m[2] == string(dataset.LabelColumn) {
				f.Answers = append(f.Answers, AnswerView{Text: "Leave " + inputerr.Quote(name) + " out", Send: answer{Do: "column", Name: name, Value: string(dataset.IgnoredColumn)}})
			}
		}
		for _, m := range settlesSize.FindAllStringSubmatch(e.Hint, -1) {
			name := unquoted(m[1])
			for _, size := range []string{"1 cl", "3 cl", "6 cl", "9 cl", "12 cl"} {
				f.Answers = append(f.Answers, AnswerView{Text: inputerr.Quote(name) + " is " + size, Send: answer{Do: "size", Name: name, Value: size}})
			}
			break
		}
		for _, m := range settlesName.FindAllStringSubmatch(e.Hint, -1) {
			f.Answers = append(f.Answers, AnswerView{Text: "They are two ingredients", Send: answer{Do: "names", Name: unquoted(m[1]), Value: unquoted(m[2]), On: true}})
		}
		for _, m := range settlesRow.FindAllStringSubmatch(e.Hint, -1) {
			name := unquoted(m[1])
			f.Answers = append(f.Answers, AnswerView{Text: "Leave " + inputerr.Quote(name) + " out", Send: answer{Do: "row", Name: name, On: true}})
		}
		for _, m := range sumsToNone.FindAllStringSubmatch(e.Message, -1) {
			f.Answers = append(f.Answers, AnswerView{Text: "Leave " + m[1] + " out", Send: answer{Do: "row", Name: unquoted(m[1]), On: true}})
		}
		for _, m := range settlesDecimal.FindAllStringSubmatch(e.Hint, -1) {
			f.Answers = append(f.Answers, AnswerView{Text: "The decimal mark is the " + m[1], Send: answer{Do: "decimal", Value: m[1]}})
		}
		if len(f.Answers) > 0 {
			f.Hint = ""
		}
		if by, _, ok := strings.Cut(e.Hint, "; without: "); ok { // a correction that a person can make in the table
			f.Hint = sentence(by)
		}
		v.Faults = append(v.Faults, f)
	}
	if more := len(all) - mostFaults; more > 0 {
		v.Faults = append(v.Faults, FaultView{Message: fmt.Sprintf("%d more like these", more), Answers: []AnswerView{}})
	}
	for _, e := range inputerr.All(r.ingredientsErr) {
		v.Faults = append(v.Faults, faultView(e))
	}
	if b.tables[ingredientsTable] != nil && len(v.Faults) > 0 {
		last := &v.Faults[len(v.Faults)-1]
		last.Answers = append(last.Answers, AnswerView{Text: "Do without " + inputerr.Quote(b.tables[ingredientsTable].name), Send: answer{Do: "alone"}})
	}
}

// faultView returns the page's view of an error.
func faultView(e *inputerr.Error) FaultView {
	return FaultView{Message: sentence(e.Message), Place: placeOf(e.Cell, e.Line), Hint: sentence(e.Hint), Answers: []AnswerView{}}
}

// placeOf returns the place of an error in a table, in words.
func placeOf(cell string, line int) string {
	if cell == "" && line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return cell
}

// sentence makes a message a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first := []rune(text)[0]
	return strings.ToUpper(string(first)) + text[len(string(first)):] + "."
}

// roleWords are the page's names for the roles of columns.
var roleWords = map[dataset.Role]string{
	dataset.RecipeColumn: "the recipe", dataset.IngredientColumn: "an ingredient", dataset.AmountColumn: "the amount",
	dataset.UnitColumn: "the unit", dataset.LabelColumn: "a result", dataset.IgnoredColumn: "left out",
}

// collectQuestions stores the guesses of a draft that a person can change.
func (b *setup) collectQuestions(d *compile.Draft) {
	_, notes := d.Contents()
	var all []tableQuestion
	for _, n := range notes {
		switch {
		case n.AmbiguousColumn != "":
			all = append(all, tableQuestion{column: n.AmbiguousColumn, message: n.Message})
		case n.Spelling != "":
			all = append(all, tableQuestion{word: n.Spelling, same: n.OtherSpelling, guessed: true, message: fmt.Sprintf("are %s and %s the same?", inputerr.Quote(n.OtherSpelling), inputerr.Quote(n.Spelling))})
		case n.Row != "":
			all = append(all, tableQuestion{row: n.Row, leftOut: n.Left, message: fmt.Sprintf("is %s a recipe, or does it sum up others?", inputerr.Quote(n.Row))})
		}
	}
	if d.Book != nil && d.Book.Long && d.Ingredients == "" {
		for _, pair := range d.Book.Misspellings() {
			all = append(all, tableQuestion{word: pair[1], same: pair[0], message: fmt.Sprintf("are %s and %s the same?", inputerr.Quote(pair[0]), inputerr.Quote(pair[1]))})
		}
	}
	for _, a := range all {
		known := func(o tableQuestion) bool { return o.column == a.column && o.word == a.word && o.row == a.row }
		if len(b.questions) < mostAsked && !slices.ContainsFunc(b.questions, known) {
			b.questions = append(b.questions, a)
		}
	}
}

// showQuestions adds the guesses as questions, including answered ones. d is nil if the table
// cannot be read. Then it adds the questions whose answers may be the cause.
func (b *setup) showQuestions(v *SetupView, d *compile.Draft) {
	for _, a := range b.questions {
		q := QuestionView{Text: sentence(a.message), Answers: []AnswerView{}}
		switch {
		case a.word != "":
			q.Text = strings.TrimSuffix(q.Text, ".")
			to, said := b.layout.Names[dataset.NormalizeName(a.word)]
			same := said && to == a.same || !said && a.guessed
			apart := answer{Do: "names", Name: a.word, Value: a.word}
			if a.guessed { // case alone does not distinguish ingredients
				apart.Value, apart.On = a.word+" (2)", true
			}
			q.Answers = append(q.Answers, AnswerView{Text: "The same", Chosen: same, Send: answer{Do: "names", Name: a.word, Value: a.same, On: !a.guessed}},
				AnswerView{Text: "Two ingredients", Chosen: !same, Send: apart})
		case a.row != "":
			q.Text = strings.TrimSuffix(q.Text, ".")
			out := slices.Contains(b.layout.Without, a.row) || a.leftOut && !slices.Contains(b.layout.Including, a.row)
			q.Answers = append(q.Answers, AnswerView{Text: "A recipe", Chosen: !out, Send: answer{Do: "row", Name: a.row}},
				AnswerView{Text: "Leave it out", Chosen: out, Send: answer{Do: "row", Name: a.row, On: true}})
		default:
			is, ok := b.layout.Columns[dataset.NormalizeName(a.column)]
			if d != nil && d.Book != nil && d.Book.Shape != nil {
				i := slices.IndexFunc(d.Book.Shape.Columns, func(c dataset.Column) bool { return c.Name == a.column })
				if ok = i >= 0; ok {
					is = d.Book.Shape.Columns[i].Role
				}
			}
			if !ok {
				continue
			}
			for _, role := range []dataset.Role{dataset.LabelColumn, dataset.IngredientColumn, dataset.IgnoredColumn, dataset.RecipeColumn} {
				if role == dataset.RecipeColumn && is != role && !strings.Contains(a.message, "the recipe") {
					continue
				}
				q.Answers = append(q.Answers, AnswerView{Text: strings.ToUpper(roleWords[role][:1]) + roleWords[role][1:], Chosen: is == role, Send: answer{Do: "column", Name: a.column, Value: string(role)}})
			}
		}
		v.Questions = append(v.Questions, q)
	}
}

// showNotes adds the notes on how the tables were understood. Those with alternatives become
// questions.
func (b *setup) showNotes(v *SetupView, r *tableReading) {
	d := r.draft
	_, notes := d.Contents()
	for _, n := range notes {
		switch {
		case n.AmbiguousColumn != "" || n.Spelling != "" || n.Row != "" || n.Origin:
		case strings.HasPrefix(n.Setting, "decimal:"):
			q := QuestionView{Text: sentence(n.Message), Place: placeOf(n.Cell, n.Line), Answers: []AnswerView{}}
			for _, mark := range []dataset.Decimal{dataset.DecimalPoint, dataset.DecimalComma} {
				q.Answers = append(q.Answers, AnswerView{Text: "The decimal mark is the " + mark.String(), Chosen: d.Layout.Decimal == mark, Send: answer{Do: "decimal", Value: mark.String()}})
			}
			v.Questions = append(v.Questions, q)
		case strings.HasPrefix(n.Setting, "sheet:"): // the page shows the sheets above the table
		default:
			text := sentence(n.Message)
			if place := placeOf(n.Cell, n.Line); place != "" {
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
	if d.Book != nil {
		b.showSizes(v, d.Book)
	}
	if r.sheet != "" && len(r.lacking) == 0 {
		v.Questions = append(v.Questions, QuestionView{Text: fmt.Sprintf("Sheet %s lists the ingredients, with prices, stock or maxima.", inputerr.Quote(r.sheet)),
			Answers: []AnswerView{{Text: "Use it", Chosen: true, Send: answer{Do: "pairs", On: !b.noPairs}}, {Text: "Leave it out", Send: answer{Do: "alone"}}}})
	} else if r.sheet != "" {
		v.Notes = append(v.Notes, fmt.Sprintf("Sheet %s lists ingredients and is left out: it lacks %s.", inputerr.Quote(r.sheet), inputerr.List(r.lacking, 4)))
	}
}

// showSizes adds questions about the sizes of units that the recipes use and that have no
// fixed size.
func (b *setup) showSizes(v *SetupView, known *dataset.Book) {
	for _, use := range known.LooseUnits() {
		q := QuestionView{Text: fmt.Sprintf("How much is 1 %s? No standard says, and %s it.", use.Name, usesText(use.Recipes)), Answers: []AnswerView{}}
		for k, size := range use.Sizes {
			is := b.units[use.Name] == size || b.units[use.Name] == "" && k == 1
			q.Answers = append(q.Answers, AnswerView{Text: size, Chosen: is, Send: answer{Do: "size", Name: use.Name, Value: size}})
		}
		v.Questions = append(v.Questions, q)
	}
}

// usesText returns how many recipes use something, in words.
func usesText(n int) string {
	if n == 1 {
		return "1 recipe uses"
	}
	return fmt.Sprintf("%d recipes use", n)
}

// wayWords are the page's names for the directions of objectives.
var wayWords = map[config.Direction]string{
	config.Maximize: "High", config.Minimize: "Low", config.Between: "Within",
	compile.WantClass: "Want", compile.SureClass: "At least 90 %",
	compile.Ratio: "Return per risk", compile.Frontier: "Return against risk", compile.Return: "Return alone", compile.Volatility: "Least risk",
}

// showRequirements adds the objectives and constraints that the draft offers.
func (b *setup) showRequirements(v *SetupView, r *tableReading) {
	d := r.draft
	for _, t := range d.Targets() {
		w := TargetView{Key: t.Key, Name: t.Name, Why: t.Why, Attribute: t.Attribute, Directions: t.Directions, Objective: t.Objective, From: t.From, To: t.To, Least: t.Least, Most: t.Most, Classes: t.Classes, Words: make(map[string]any)}
		for _, way := range t.Directions {
			w.Words[string(way)] = wayWords[way]
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
			w.Summary = fmt.Sprintf("%s of %d", inputerr.Count(t.Known, "recipe"), len(d.Book.Recipes))
		case t.Why == "":
			w.Summary = fmt.Sprintf("%v to %v; %s of %d", t.Least, t.Most, inputerr.Count(t.Known, "recipe"), len(d.Book.Recipes))
		}
		v.Targets = append(v.Targets, w)
	}
	for _, o := range d.OfferedBounds() {
		view := BoundView{Words: o.Words, On: o.On, Send: answer{Do: "bound", Name: o.Key, On: !o.On}, Answers: []AnswerView{}}
		if o.Key == compile.StockBound {
			for k, batch := range d.Batches() {
				view.Answers = append(view.Answers, AnswerView{Text: "for " + batch, Chosen: batch == b.batch || b.batch == "" && k == 0, Send: answer{Do: "batch", Value: batch}})
			}
		}
		v.Bounds = append(v.Bounds, view)
	}
	if d.Book != nil && slices.ContainsFunc(d.Targets(), func(t compile.Target) bool { return t.Objective.Direction != compile.NoDirection && !t.Attribute }) {
		at := QuestionView{Text: "How many do you make at a time?", Answers: []AnswerView{}}
		for _, n := range []int{3, 5, 8, 12} {
			at.Answers = append(at.Answers, AnswerView{Text: strconv.Itoa(n), Chosen: n == d.BatchSize(), Send: answer{Do: "round", Value: strconv.Itoa(n)}})
		}
		v.Round = &at
		v.Bounds = append(v.Bounds, BoundView{Words: "Ingredients that go together in the recipes, where too little is known of the results", On: !b.noPairs, Send: answer{Do: "pairs", On: b.noPairs}, Answers: []AnswerView{}})
	}
}
