package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem"
)

// What the page shows of a table.
const (
	shownRows    = 60
	shownColumns = 60
	shownBytes   = 80
	mostFaults   = 8
	mostAsked    = 40
)

// A BeginView is what the page that makes a problem of a table shows.
type BeginView struct {
	Where    string         `json:"where"` // what will be written
	Examples []ExampleName  `json:"examples"`
	Tables   []TableView    `json:"tables"`
	Says     string         `json:"says"` // what the tables hold
	Faults   []FaultView    `json:"faults"`
	Asks     []QuestionView `json:"asks"`
	Left     []string       `json:"left"` // what was understood and is no question
	Targets  []TargetView   `json:"targets"`
	Bounds   []BoundView    `json:"bounds"`
	Round    *QuestionView  `json:"round"` // how many are made at a time; nil where nothing is measured
	Text     string         `json:"text"`
	Ready    bool           `json:"ready"`
	Named    bool           `json:"named"` // the table is a file that was named
}

// A TableView is a table with what its cells were taken for.
type TableView struct {
	Of      kindOfTable `json:"of"`
	Name    string      `json:"name"`
	Sheet   string      `json:"sheet"`
	Sheets  []string    `json:"sheets"`
	Columns []PickView  `json:"columns"` // the roles that each column can have, by field
	Rows    []RowView   `json:"rows"`
	More    bool        `json:"more"`
}

// A PickView is a column and what it can be.
type PickView struct {
	Name  string      `json:"name"`
	Role  book.Role   `json:"role"`
	Roles []book.Role `json:"roles"`
}

// A RowView is a row of a table.
type RowView struct {
	Line  int        `json:"line"`
	Head  bool       `json:"head"`
	Wrong bool       `json:"wrong"` // something in it cannot be read
	Why   string     `json:"why"`   // it is left out; empty where it is not
	Back  *answer    `json:"back"`  // what takes it in; nil where nothing does
	Cells []CellView `json:"cells"`
}

// A CellView is a cell, and what it was taken for.
type CellView struct {
	Text string `json:"t"`
	Kind string `json:"k"`
}

// What cells are taken for.
const (
	asName       = "name"
	asIngredient = "ingredient"
	asAsset      = "asset"
	asAmount     = "amount"
	asResult     = "result"
	asPrice      = "price"
	asStock      = "stock"
	asLimit      = "limit"
	asGroup      = "group"
	asNote       = "note"
	asTime       = "time"
	asValue      = "value" // a price or a return
	asLeft       = "left"
)

// A QuestionView is something that was guessed, and what else it could be.
type QuestionView struct {
	Text    string       `json:"text"`
	Place   string       `json:"place"`
	Answers []AnswerView `json:"answers"`
}

// An AnswerView is an answer to click.
type AnswerView struct {
	Text   string `json:"text"`
	Chosen bool   `json:"chosen"`
	Send   answer `json:"send"`
}

// A FaultView is something wrong in a table, and what can be clicked to mend it.
type FaultView struct {
	Message string       `json:"message"`
	Place   string       `json:"place"`
	Hint    string       `json:"hint"`
	Answers []AnswerView `json:"answers"`
}

// A TargetView is what can be an objective.
type TargetView struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Says string `json:"says"` // its numbers or classes, and how many recipes have them
	Why  string `json:"why"`  // why it cannot be one

	Must      bool           `json:"must"` // something is asked of it
	Attribute bool           `json:"attribute"`
	Ways      []problem.Way  `json:"ways"`
	Goal      problem.Goal   `json:"goal"`
	From      float64        `json:"from"`
	To        float64        `json:"to"`
	Least     float64        `json:"least"`
	Most      float64        `json:"most"`
	Classes   []string       `json:"classes"`
	First     problem.Goal   `json:"first"`
	Words     map[string]any `json:"words"` // of ways
}

// A BoundView is a constraint to switch.
type BoundView struct {
	Words   string       `json:"words"`
	On      bool         `json:"on"`
	Send    answer       `json:"send"`
	Answers []AnswerView `json:"answers"` // more to say of it
}

// view returns what the page shows.
func (b *beginning) view(ctx context.Context) (*BeginView, error) {
	v := &BeginView{Where: b.options.Dir, Examples: exampleNames(), Tables: []TableView{}, Faults: []FaultView{}, Asks: []QuestionView{}, Left: []string{}, Targets: []TargetView{}, Bounds: []BoundView{}, Named: b.options.Table != ""}
	u := b.tables[recipesTable]
	if u == nil {
		return v, nil
	}
	dir, name, _ := b.place()
	v.Where = filepath.Join(dir, name)
	r, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	b.showTables(ctx, v, r)
	b.showFaults(v, r)
	if r.draft != nil {
		b.ask(r.draft)
	}
	b.showAsked(v, r.draft)
	if r.draft == nil || ctx.Err() != nil {
		return v, ctx.Err()
	}
	v.Ready = true
	b.showNotes(v, r)
	b.showWishes(v, r)
	text, err := r.draft.Write()
	if err != nil {
		v.Faults, v.Ready = append(v.Faults, faultView(&fault.Error{Message: err.Error()})), false
		return v, nil
	}
	v.Text = string(text)
	v.Says, _ = r.draft.Contents()
	return v, ctx.Err()
}

// showTables shows the tables with what their cells were taken for.
func (b *beginning) showTables(ctx context.Context, v *BeginView, r *reading) {
	u := b.tables[recipesTable]
	layout := b.layout
	var shape *book.Shape
	if r.draft != nil && r.draft.Book != nil {
		if shape = r.draft.Book.Shape; shape != nil {
			layout.Sheet = shape.Sheet
		}
	}
	if t, ok := tableOf(ctx, recipesTable, u, layout); ok {
		switch {
		case r.draft != nil && r.draft.Series != nil:
			colourSeries(&t, r.draft.Series)
		case shape != nil:
			b.colourRecipes(&t, shape, r.draft)
		}
		for _, e := range fault.All(r.err) {
			for k := range t.Rows {
				t.Rows[k].Wrong = t.Rows[k].Wrong || t.Rows[k].Line == e.Line && (e.Cell == "" || strings.HasPrefix(strings.Trim(e.Cell, "'"), t.Sheet))
			}
		}
		v.Tables = append(v.Tables, t)
	}
	in, layout := b.tables[ingredientsTable], book.Layout{}
	if in == nil && r.draft != nil && r.draft.Ingredients != "" {
		in, layout.Sheet = u, r.sheet
	}
	if in == nil {
		return
	}
	if t, ok := tableOf(ctx, ingredientsTable, in, layout); ok {
		t.Sheets = []string{}
		if r.ingredients != nil && len(r.ingredients.Attributes) > 0 {
			colourIngredients(&t, r.ingredients)
		}
		v.Tables = append(v.Tables, t)
	}
}

// tableOf returns the first rows of a table.
func tableOf(ctx context.Context, of kindOfTable, u *upload, layout book.Layout) (TableView, bool) {
	t := TableView{Of: of, Name: u.name, Rows: []RowView{}, Columns: []PickView{}, Sheets: []string{}}
	p, err := book.PeekAt(u.open(ctx), u.name, layout, shownRows, shownColumns, shownBytes)
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

// colour gives the cells of a row what they were taken for.
func (r *RowView) colour(kind func(field int) string) {
	for i := range r.Cells {
		if r.Cells[i].Text != "" {
			r.Cells[i].Kind = kind(i)
		}
	}
}

// colourRecipes says what the cells of recipes were taken for.
func (b *beginning) colourRecipes(t *TableView, s *book.Shape, d *problem.Draft) {
	targets := make(map[string]problem.Target)
	for _, target := range d.Targets() {
		if !target.Attribute {
			targets[target.Name] = target
		}
	}
	kindOf := func(c book.Column) (head, cell string) {
		switch c.Role {
		case book.RecipeColumn:
			return asName, asName
		case book.IngredientColumn:
			if d.Book.Long {
				return asIngredient, asIngredient
			}
			return asIngredient, asAmount
		case book.AmountColumn, book.UnitColumn:
			return asAmount, asAmount
		case book.LabelColumn:
			switch target, ok := targets[c.Name]; {
			case book.Costs(c.Name):
				return asPrice, asPrice
			case ok && len(target.Ways) == 0:
				return asNote, asNote
			}
			return asResult, asResult
		}
		return asLeft, asLeft
	}
	roles := []book.Role{book.RecipeColumn, book.IngredientColumn, book.LabelColumn, book.IgnoredColumn}
	if d.Book.Long {
		roles = book.Roles()
	}
	if !d.Book.Turned {
		for _, c := range s.Columns[:min(len(s.Columns), shownColumns)] {
			p := PickView{Name: c.Name, Role: c.Role, Roles: roles}
			if c.Name == "" {
				p.Roles = nil
			}
			t.Columns = append(t.Columns, p)
		}
	}
	for k := range t.Rows {
		row := &t.Rows[k]
		row.Head = row.Line == s.Header
		switch {
		case row.Line < s.Header || slices.Contains(s.Left, row.Line):
			row.colour(func(int) string { return asLeft })
			b.explain(row, s, d)
		case d.Book.Turned && row.Head:
			row.colour(func(i int) string {
				if i > s.Named {
					return asName
				}
				return asIngredient
			})
		case d.Book.Turned:
			at := slices.Index(s.Lines, row.Line)
			if at >= 0 && at < len(s.Columns) && s.Columns[at].Role == book.IgnoredColumn && s.Columns[at].Name != "" {
				row.Why, row.Back = fmt.Sprintf("%s is left out, as one that sums up others.", fault.Quote(s.Columns[at].Name)), &answer{Do: "column", Name: s.Columns[at].Name, Value: string(book.LabelColumn)}
				if b.layout.Columns[book.Name(s.Columns[at].Name)] == book.IgnoredColumn {
					row.Why = fmt.Sprintf("You left out %s.", fault.Quote(s.Columns[at].Name))
				}
			}
			row.colour(func(i int) string {
				if at < 0 || at >= len(s.Columns) || i < s.Named {
					return asLeft
				}
				head, cell := kindOf(s.Columns[at])
				if i == s.Named {
					return head
				}
				return cell
			})
		default:
			row.colour(func(i int) string {
				if i >= len(s.Columns) {
					return asLeft
				}
				head, cell := kindOf(s.Columns[i])
				if row.Head {
					return head
				}
				return cell
			})
		}
	}
}

// explain says why a row is left out and, where a person left it out, how it is taken in.
func (b *beginning) explain(row *RowView, s *book.Shape, d *problem.Draft) {
	if row.Line < s.Header {
		row.Why = "It stands above the names of the columns."
		return
	}
	if at := slices.IndexFunc(s.Columns, func(c book.Column) bool { return c.Role == book.RecipeColumn }); at >= 0 && at < len(row.Cells) {
		if name := book.Name(row.Cells[at].Text); slices.Contains(b.layout.Without, name) {
			row.Why, row.Back = fmt.Sprintf("You left out %s.", fault.Quote(name)), &answer{Do: "row", Name: name}
			return
		}
	}
	row.Why = "It has a text alone, or belongs to a recipe that is left out."
	_, notes := d.Contents()
	for _, n := range notes {
		if n.Line != row.Line || !strings.Contains(n.Message, "left out") {
			continue
		}
		message, _, _ := strings.Cut(n.Message, ": including: ") // which the page offers to click
		row.Why = sentence(message)
		if n.Left && n.Row != "" {
			row.Back = &answer{Do: "row", Name: n.Row}
		}
	}
}

// colourSeries says what the cells of prices or returns are.
func colourSeries(t *TableView, s *book.Series) {
	for k := range t.Rows {
		row := &t.Rows[k]
		row.Head = len(row.Cells) > 1 && len(s.Columns) > 0 && book.Name(row.Cells[1].Text) == s.Columns[0]
		row.colour(func(i int) string {
			switch {
			case i == 0:
				return asTime
			case row.Head:
				return asAsset
			}
			return asValue
		})
	}
}

// colourIngredients says what the cells of a table of ingredients are.
func colourIngredients(t *TableView, in *book.Ingredients) {
	kinds := make(map[string]string)
	for i := range in.Attributes {
		a := &in.Attributes[i]
		kinds[a.Name] = map[book.Meaning]string{book.Price: asPrice, book.Stock: asStock, book.Maximum: asLimit, book.Minimum: asLimit, book.Figure: asResult, book.Group: asGroup, book.Remark: asNote}[a.Meaning()]
	}
	header := slices.IndexFunc(t.Rows, func(r RowView) bool {
		return slices.ContainsFunc(r.Cells, func(c CellView) bool { return kinds[book.Name(c.Text)] != "" })
	})
	if header < 0 {
		return
	}
	t.Rows[header].Head = true
	var columns []string
	for _, c := range t.Rows[header].Cells {
		kind := kinds[book.Name(c.Text)]
		if kind == "" && c.Text != "" {
			kind = asIngredient
		}
		columns = append(columns, kind)
	}
	for k := range t.Rows {
		t.Rows[k].colour(func(i int) string {
			if k < header || i >= len(columns) || columns[i] == "" {
				return asLeft
			}
			return columns[i]
		})
	}
}

// settles are how hints say what settles something.
var (
	settlesColumn  = regexp.MustCompile(`\bcolumns: \{("(?:[^"\\]|\\.)*"|[^"{}:]+): ([a-z]+)\}`)
	settlesSize    = regexp.MustCompile(`\bunits: \{("(?:[^"\\]|\\.)*"|[^"{}:]+): ([0-9.]+ [a-z]+)\}`)
	settlesName    = regexp.MustCompile(`\bnames: \{("(?:[^"\\]|\\.)*"|[^"{}:]+): ("(?:[^"\\]|\\.)*"|[^"{}]+)\}`)
	settlesRow     = regexp.MustCompile(`\bwithout: \[("(?:[^"\\]|\\.)*"|[^"\[\]]*)\]`)
	sumsToNone     = regexp.MustCompile(`^the amounts of ("(?:[^"\\]|\\.)*") add up to 0$`)
	settlesDecimal = regexp.MustCompile(`\bdecimal: (point|comma)`)
)

// unquoted is a name as a hint writes it.
func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// showFaults says what is wrong in the tables, and what mends it.
func (b *beginning) showFaults(v *BeginView, r *reading) {
	all := fault.All(r.err)
	for _, e := range all[:min(len(all), mostFaults)] {
		f := faultView(e)
		for _, m := range settlesColumn.FindAllStringSubmatch(e.Hint, -1) {
			name := unquoted(m[1])
			if m[2] == string(book.IgnoredColumn) {
				f.Answers = append(f.Answers, AnswerView{Text: "Leave the column " + fault.Quote(name) + " out", Send: answer{Do: "column", Name: name, Value: m[2]}})
				continue
			}
			f.Answers = append(f.Answers, AnswerView{Text: fault.Quote(name) + " is " + roleWords[book.Role(m[2])], Send: answer{Do: "column", Name: name, Value: m[2]}})
			if m[2] == string(book.LabelColumn) {
				f.Answers = append(f.Answers, AnswerView{Text: "Leave " + fault.Quote(name) + " out", Send: answer{Do: "column", Name: name, Value: string(book.IgnoredColumn)}})
			}
		}
		for _, m := range settlesSize.FindAllStringSubmatch(e.Hint, -1) {
			name := unquoted(m[1])
			for _, size := range []string{"1 cl", "3 cl", "6 cl", "9 cl", "12 cl"} {
				f.Answers = append(f.Answers, AnswerView{Text: fault.Quote(name) + " is " + size, Send: answer{Do: "size", Name: name, Value: size}})
			}
			break
		}
		for _, m := range settlesName.FindAllStringSubmatch(e.Hint, -1) {
			f.Answers = append(f.Answers, AnswerView{Text: "They are two ingredients", Send: answer{Do: "names", Name: unquoted(m[1]), Value: unquoted(m[2]), On: true}})
		}
		for _, m := range settlesRow.FindAllStringSubmatch(e.Hint, -1) {
			name := unquoted(m[1])
			f.Answers = append(f.Answers, AnswerView{Text: "Leave " + fault.Quote(name) + " out", Send: answer{Do: "row", Name: name, On: true}})
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
		if by, _, ok := strings.Cut(e.Hint, "; without: "); ok { // what a person can do in the table
			f.Hint = sentence(by)
		}
		v.Faults = append(v.Faults, f)
	}
	if more := len(all) - mostFaults; more > 0 {
		v.Faults = append(v.Faults, FaultView{Message: fmt.Sprintf("%d more like these", more), Answers: []AnswerView{}})
	}
	for _, e := range fault.All(r.other) {
		v.Faults = append(v.Faults, faultView(e))
	}
	if b.tables[ingredientsTable] != nil && len(v.Faults) > 0 {
		last := &v.Faults[len(v.Faults)-1]
		last.Answers = append(last.Answers, AnswerView{Text: "Do without " + fault.Quote(b.tables[ingredientsTable].name), Send: answer{Do: "alone"}})
	}
}

// faultView is what is wrong, for the page.
func faultView(e *fault.Error) FaultView {
	return FaultView{Message: sentence(e.Message), Place: placeOf(e.Cell, e.Line), Hint: sentence(e.Hint), Answers: []AnswerView{}}
}

// placeOf is where in a table something stands.
func placeOf(cell string, line int) string {
	if cell == "" && line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return cell
}

// sentence makes a message one.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first := []rune(text)[0]
	return strings.ToUpper(string(first)) + text[len(string(first)):] + "."
}

// roleWords are what columns are called on the page.
var roleWords = map[book.Role]string{
	book.RecipeColumn: "the recipe", book.IngredientColumn: "an ingredient", book.AmountColumn: "the amount",
	book.UnitColumn: "the unit", book.LabelColumn: "a result", book.IgnoredColumn: "left out",
}

// ask keeps in mind what was guessed and can be answered otherwise.
func (b *beginning) ask(d *problem.Draft) {
	_, notes := d.Contents()
	var all []askedColumn
	for _, n := range notes {
		switch {
		case n.Asked != "":
			all = append(all, askedColumn{column: n.Asked, message: n.Message})
		case n.Word != "":
			all = append(all, askedColumn{word: n.Word, same: n.Same, guessed: true, message: fmt.Sprintf("are %s and %s the same?", fault.Quote(n.Same), fault.Quote(n.Word))})
		case n.Row != "":
			all = append(all, askedColumn{row: n.Row, left: n.Left, message: fmt.Sprintf("is %s a recipe, or does it sum up others?", fault.Quote(n.Row))})
		}
	}
	if d.Book != nil && d.Book.Long && d.Ingredients == "" {
		for _, pair := range d.Book.Alike() {
			all = append(all, askedColumn{word: pair[1], same: pair[0], message: fmt.Sprintf("are %s and %s the same?", fault.Quote(pair[0]), fault.Quote(pair[1]))})
		}
	}
	for _, a := range all {
		known := func(o askedColumn) bool { return o.column == a.column && o.word == a.word && o.row == a.row }
		if len(b.asked) < mostAsked && !slices.ContainsFunc(b.asked, known) {
			b.asked = append(b.asked, a)
		}
	}
}

// showAsked shows what was guessed as questions, those that were answered among them. Of a
// table that cannot be read, d is nil, and those are shown whose answers may be why.
func (b *beginning) showAsked(v *BeginView, d *problem.Draft) {
	for _, a := range b.asked {
		q := QuestionView{Text: sentence(a.message), Answers: []AnswerView{}}
		switch {
		case a.word != "":
			q.Text = strings.TrimSuffix(q.Text, ".")
			to, said := b.layout.Names[book.Name(a.word)]
			same := said && to == a.same || !said && a.guessed
			apart := answer{Do: "names", Name: a.word, Value: a.word}
			if a.guessed { // letters' case does not tell ingredients apart
				apart.Value, apart.On = a.word+" (2)", true
			}
			q.Answers = append(q.Answers, AnswerView{Text: "The same", Chosen: same, Send: answer{Do: "names", Name: a.word, Value: a.same, On: !a.guessed}},
				AnswerView{Text: "Two ingredients", Chosen: !same, Send: apart})
		case a.row != "":
			q.Text = strings.TrimSuffix(q.Text, ".")
			out := slices.Contains(b.layout.Without, a.row) || a.left && !slices.Contains(b.layout.Including, a.row)
			q.Answers = append(q.Answers, AnswerView{Text: "A recipe", Chosen: !out, Send: answer{Do: "row", Name: a.row}},
				AnswerView{Text: "Leave it out", Chosen: out, Send: answer{Do: "row", Name: a.row, On: true}})
		default:
			is, ok := b.layout.Columns[book.Name(a.column)]
			if d != nil && d.Book != nil && d.Book.Shape != nil {
				i := slices.IndexFunc(d.Book.Shape.Columns, func(c book.Column) bool { return c.Name == a.column })
				if ok = i >= 0; ok {
					is = d.Book.Shape.Columns[i].Role
				}
			}
			if !ok {
				continue
			}
			for _, role := range []book.Role{book.LabelColumn, book.IngredientColumn, book.IgnoredColumn, book.RecipeColumn} {
				if role == book.RecipeColumn && is != role && !strings.Contains(a.message, "the recipe") {
					continue
				}
				q.Answers = append(q.Answers, AnswerView{Text: strings.ToUpper(roleWords[role][:1]) + roleWords[role][1:], Chosen: is == role, Send: answer{Do: "column", Name: a.column, Value: string(role)}})
			}
		}
		v.Asks = append(v.Asks, q)
	}
}

// showNotes shows what was understood: as questions where something else can be answered.
func (b *beginning) showNotes(v *BeginView, r *reading) {
	d := r.draft
	_, notes := d.Contents()
	for _, n := range notes {
		switch {
		case n.Asked != "" || n.Word != "" || n.Row != "":
		case strings.HasPrefix(n.Settle, "decimal:"):
			q := QuestionView{Text: sentence(n.Message), Place: placeOf(n.Cell, n.Line), Answers: []AnswerView{}}
			for _, mark := range []book.Decimal{book.DecimalPoint, book.DecimalComma} {
				q.Answers = append(q.Answers, AnswerView{Text: "The decimal mark is the " + mark.String(), Chosen: d.Layout.Decimal == mark, Send: answer{Do: "decimal", Value: mark.String()}})
			}
			v.Asks = append(v.Asks, q)
		case strings.HasPrefix(n.Settle, "sheet:"): // the sheets stand above the table
		default:
			text := sentence(n.Message)
			if place := placeOf(n.Cell, n.Line); place != "" {
				text += " (" + place + ")"
			}
			v.Left = append(v.Left, text)
		}
	}
	if d.Book != nil {
		b.showSizes(v, d.Book)
	}
	if r.sheet != "" && len(r.lacking) == 0 {
		v.Asks = append(v.Asks, QuestionView{Text: fmt.Sprintf("Sheet %s lists the ingredients, with prices, stock or maxima.", fault.Quote(r.sheet)),
			Answers: []AnswerView{{Text: "Use it", Chosen: true, Send: answer{Do: "pairs", On: !b.noPairs}}, {Text: "Leave it out", Send: answer{Do: "alone"}}}})
	} else if r.sheet != "" {
		v.Left = append(v.Left, fmt.Sprintf("Sheet %s lists ingredients and is left out: it lacks %s.", fault.Quote(r.sheet), fault.List(r.lacking, 4)))
	}
}

// showSizes asks for the sizes of units that nobody has fixed and that the recipes use.
func (b *beginning) showSizes(v *BeginView, known *book.Book) {
	for _, use := range known.LooseUnits() {
		q := QuestionView{Text: fmt.Sprintf("How much is 1 %s? No standard says, and %s it.", use.Name, uses(use.Recipes)), Answers: []AnswerView{}}
		for k, size := range use.Sizes {
			is := b.units[use.Name] == size || b.units[use.Name] == "" && k == 1
			q.Answers = append(q.Answers, AnswerView{Text: size, Chosen: is, Send: answer{Do: "size", Name: use.Name, Value: size}})
		}
		v.Asks = append(v.Asks, q)
	}
}

// uses is how many recipes do.
func uses(n int) string {
	if n == 1 {
		return "1 recipe uses"
	}
	return fmt.Sprintf("%d recipes use", n)
}

// wayWords are what ways are called on the page.
var wayWords = map[problem.Way]string{
	problem.Maximize: "High", problem.Minimize: "Low", problem.Between: "Within",
	problem.Want: "Want", problem.Sure: "At least 90 %",
	problem.Ratio: "Return per risk", problem.Frontier: "Return against risk", problem.Return: "Return alone", problem.Volatility: "Least risk",
}

// showWishes shows the objectives and the constraints that the draft can have.
func (b *beginning) showWishes(v *BeginView, r *reading) {
	d := r.draft
	for _, t := range d.Targets() {
		w := TargetView{Key: t.Key, Name: t.Name, Why: t.Why, Attribute: t.Attribute, Ways: t.Ways, Goal: t.Goal, From: t.From, To: t.To, Least: t.Least, Most: t.Most, Classes: t.Classes, Words: make(map[string]any)}
		for _, way := range t.Ways {
			w.Words[string(way)] = wayWords[way]
		}
		if w.Ways == nil {
			w.Ways = []problem.Way{}
		} else {
			w.First = t.First()
		}
		if w.Classes == nil {
			w.Classes = []string{}
		}
		switch {
		case d.Series != nil:
			w.Must = true
			w.Name, w.Says = "The portfolio", fault.Count(t.Known, "row")+" of prices or returns"
		case t.Attribute:
			w.Says = fmt.Sprintf("of the ingredients: %v to %v", t.Least, t.Most)
		case len(t.Classes) > 0:
			w.Says = fmt.Sprintf("%s of %d", fault.Count(t.Known, "recipe"), len(d.Book.Recipes))
		case t.Why == "":
			w.Says = fmt.Sprintf("%v to %v; %s of %d", t.Least, t.Most, fault.Count(t.Known, "recipe"), len(d.Book.Recipes))
		}
		v.Targets = append(v.Targets, w)
	}
	for _, o := range d.Offered() {
		view := BoundView{Words: o.Words, On: o.On, Send: answer{Do: "bound", Name: o.Key, On: !o.On}, Answers: []AnswerView{}}
		if o.Key == problem.StockBound {
			for k, batch := range d.Batches() {
				view.Answers = append(view.Answers, AnswerView{Text: "for " + batch, Chosen: batch == b.batch || b.batch == "" && k == 0, Send: answer{Do: "batch", Value: batch}})
			}
		}
		v.Bounds = append(v.Bounds, view)
	}
	if d.Book != nil && slices.ContainsFunc(d.Targets(), func(t problem.Target) bool { return t.Goal.Way != problem.None && !t.Attribute }) {
		at := QuestionView{Text: "How many do you make at a time?", Answers: []AnswerView{}}
		for _, n := range []int{3, 5, 8, 12} {
			at.Answers = append(at.Answers, AnswerView{Text: strconv.Itoa(n), Chosen: n == d.AtATime(), Send: answer{Do: "round", Value: strconv.Itoa(n)}})
		}
		v.Round = &at
		v.Bounds = append(v.Bounds, BoundView{Words: "Ingredients that go together in the recipes, where too little is known of the results", On: !b.noPairs, Send: answer{Do: "pairs", On: b.noPairs}, Answers: []AnswerView{}})
	}
}
