package run

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"kir/mcmc"
)

// Names of the columns that every file of draws has. Programs that read all files as one table add
// a column chain, which they take from the name of the directory.
const (
	drawColumnName            = "draw"        // name of the column with the number of the draw in its chain
	densityColumnName         = "log_density" // name of the column with the log density of the draw
	ingredientCountColumnName = "used"        // name of the column with the number of ingredients of the draw
	ingredientColumnName      = "ingredient"  // name of the column that lists the names of the draw's ingredients
	amountColumnName          = "amount"      // name of the column that lists the amounts of the draw's ingredients
)

// reservedColumnNames returns the names of the fixed columns in files of draws. No property may
// have such a name.
func reservedColumnNames() []string {
	return []string{"chain", drawColumnName, densityColumnName, ingredientCountColumnName, ingredientColumnName, amountColumnName}
}

// A partLayout holds what all files of draws of a run have in common: the columns and the names.
type partLayout struct {
	schema          *parquet.Schema
	scoreCount      int // number of properties, each of which has a column of scores
	conditions      []Condition
	ingredientNames []string
	parquetAmounts  []parquet.Value // item a is the Parquet value of the amount a < 2¹², for any position in a draw's list except the first
	codec           *zstd.Codec     // Zstandard compression, whose output is the same on every machine, unlike the Snappy compression in the Parquet library
}

// ingredientColumnIndex returns the index of the column that lists the ingredients of draws. The
// next column lists their amounts.
func (t *partLayout) ingredientColumnIndex() int { return 3 + t.scoreCount + len(t.conditions) }

// newPartLayout returns the layout of files of draws with a column for the scores of each property
// and a column for each condition.
func newPartLayout(properties []string, conditions []Condition, ingredients []string) *partLayout {
	t := &partLayout{schema: drawSchema(properties, conditions), scoreCount: len(properties), conditions: conditions, ingredientNames: ingredients, codec: &zstd.Codec{Level: zstd.SpeedFastest}}
	for amount := range int32(1 << 12) {
		t.parquetAmounts = append(t.parquetAmounts, t.amountValue(amount))
	}
	return t
}

// ingredientValue returns the Parquet value of the name of ingredient i, for any position in a
// draw's list except the first. The value shares the memory of the name, which the library only
// reads.
func (t *partLayout) ingredientValue(i int32) parquet.Value {
	name := t.ingredientNames[i]
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(name), len(name))).Level(1, 1, t.ingredientColumnIndex())
}

// amountValue returns the Parquet value of an amount, for any position in a draw's list except the
// first.
func (t *partLayout) amountValue(amount int32) parquet.Value {
	if int(amount) < len(t.parquetAmounts) {
		return t.parquetAmounts[amount]
	}
	return parquet.Int32Value(amount).Level(1, 1, t.ingredientColumnIndex()+1)
}

// orderedGroup is a Parquet group that keeps its fields in the given order.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (c *orderedGroup) Fields() []parquet.Field { return c.fields }

// GoType is required by the Parquet library, which calls it only to convert rows.
func (c *orderedGroup) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

// drawSchema returns the Parquet schema of files of draws.
func drawSchema(properties []string, conditions []Condition) *parquet.Schema {
	number := func() parquet.Node { return parquet.Leaf(parquet.DoubleType) }
	dictionary := func(t parquet.Type) parquet.Node {
		return parquet.Encoded(parquet.Leaf(withDictionary(t)), &parquet.RLEDictionary)
	}
	nodes := parquet.Group{
		drawColumnName:            parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked),
		densityColumnName:         number(),
		ingredientCountColumnName: dictionary(parquet.Int32Type),
		ingredientColumnName:      parquet.List(dictionary(parquet.String().Type())),
		amountColumnName:          parquet.List(dictionary(parquet.Int32Type)),
	}
	order := append([]string{drawColumnName, densityColumnName, ingredientCountColumnName}, properties...)
	for _, name := range properties {
		nodes[name] = number()
	}
	for _, c := range conditions {
		nodes[c.Name] = dictionary(parquet.String().Type())
		if c.Numbers != nil {
			nodes[c.Name] = number()
		}
		order = append(order, c.Name)
	}
	order = append(order, ingredientColumnName, amountColumnName)
	group := &orderedGroup{Group: nodes}
	byName := make(map[string]parquet.Field)
	for _, f := range nodes.Fields() {
		byName[f.Name()] = f
	}
	for _, name := range order {
		group.fields = append(group.fields, byName[name])
	}
	return parquet.NewSchema("draws", group)
}

// A file of draws is ended when it has at least minDrawsOfFullPart draws, or when its draws
// together list at least minIngredientsOfFullPart ingredients. The file is ended only at the end of
// a segment, a section of about a thousand iterations.
const (
	minDrawsOfFullPart       = 1 << 16
	minIngredientsOfFullPart = 1 << 19
)

// flushDraws is the number of draws after which the values of a part writer are passed to the
// Parquet library.
const flushDraws = 64

// A partWriter writes the draws of a part, that is, of a file of draws, in memory.
type partWriter struct {
	layout            *partLayout
	buffer            bytes.Buffer
	writer            *parquet.GenericWriter[any]
	columns           []*parquet.ColumnWriter
	pendingValues     [][]parquet.Value // item k lists the values of column k that are not passed to the Parquet library yet
	draws             int               // number of draws added
	ingredientCount   int               // number of ingredients in all added draws together
	sortedIngredients []int32           // memory that [partWriter.add] reuses for the ingredients of a draw
	amounts           []int32           // memory that [partWriter.add] reuses for the amounts of a draw
	conditions        []int32           // memory that [partWriter.add] reuses for the indices of a draw's values of conditions
}

// Keys in the metadata of a file of draws.
const (
	runMetadataKey   = "kir.run"
	chainMetadataKey = "kir.chain"
)

func (t *partLayout) newPartWriter(run string, chain int) *partWriter {
	p := &partWriter{layout: t}
	p.writer = parquet.NewGenericWriter[any](&p.buffer, t.schema, parquet.Compression(t.codec), parquet.CreatedBy("kir", "1", ""),
		parquet.KeyValueMetadata(runMetadataKey, run), parquet.KeyValueMetadata(chainMetadataKey, strconv.Itoa(chain)), parquet.PageBufferSize(1<<17),
		parquet.SkipPageBounds(ingredientColumnName, "list", "element"))
	p.columns = p.writer.ColumnWriters()
	p.pendingValues = make([][]parquet.Value, len(p.columns))
	return p
}

// add appends the state x of the chain as the draw with the given number.
func (p *partWriter) add(draw int, x *mcmc.State, scores []float64) error {
	p.sortedIngredients = append(p.sortedIngredients[:0], x.Composition.Ingredients()...)
	slices.Sort(p.sortedIngredients)
	amounts := x.Composition.Amounts()
	p.amounts = p.amounts[:0]
	for _, i := range p.sortedIngredients {
		p.amounts = append(p.amounts, amounts[i])
	}
	p.conditions = x.Composition.AppendConditions(p.conditions[:0])
	return p.appendDraw(draw, x.LogDensity(), p.sortedIngredients, p.amounts, p.conditions, scores)
}

// appendDraw appends a draw. The parameter ingredients lists the indices of the draw's ingredients
// in ascending order. Item k of amounts is the amount of ingredients[k], and item k of conditions
// is the index of the value of condition k.
func (p *partWriter) appendDraw(draw int, density float64, ingredients, amounts, conditions []int32, scores []float64) error {
	put := func(k int, v parquet.Value) { p.pendingValues[k] = append(p.pendingValues[k], v.Level(0, 0, k)) }
	put(0, parquet.Int64Value(int64(draw)))
	number := func(v float64) parquet.Value {
		if v == 0 {
			v = 0 // not −0, of which a page's least and greatest may be either
		}
		return parquet.DoubleValue(v)
	}
	put(1, number(density))
	put(2, parquet.Int32Value(int32(len(ingredients))))
	for k, y := range scores {
		put(3+k, number(y))
	}
	for at, v := range conditions {
		value := parquet.Value{}
		if c := &p.layout.conditions[at]; c.Numbers != nil {
			value = number(c.Numbers[v])
		} else {
			value = parquet.ByteArrayValue([]byte(c.Categories[v]))
		}
		put(3+len(scores)+at, value)
	}
	k := p.layout.ingredientColumnIndex()
	names, units := p.pendingValues[k], p.pendingValues[k+1]
	from := len(names)
	for at, i := range ingredients {
		names, units = append(names, p.layout.ingredientValue(i)), append(units, p.layout.amountValue(amounts[at]))
	}
	names[from], units[from] = names[from].Level(0, 1, k), units[from].Level(0, 1, k+1)
	p.pendingValues[k], p.pendingValues[k+1] = names, units
	p.draws++
	p.ingredientCount += len(ingredients)
	if p.draws%flushDraws == 0 {
		return p.flush()
	}
	return nil
}

// flush passes the pending values to the Parquet library.
func (p *partWriter) flush() error {
	for k, c := range p.columns {
		if len(p.pendingValues[k]) == 0 {
			continue
		}
		if _, err := c.WriteRowValues(p.pendingValues[k]); err != nil {
			return err
		}
		p.pendingValues[k] = p.pendingValues[k][:0]
	}
	return nil
}

// isFull reports whether the file has enough draws or ingredients to be ended; see
// minDrawsOfFullPart.
func (p *partWriter) isFull() bool {
	return p.draws >= minDrawsOfFullPart || p.ingredientCount >= minIngredientsOfFullPart
}

// close ends the file of draws and returns its bytes.
func (p *partWriter) close() ([]byte, error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	if err := p.writer.Close(); err != nil {
		return nil, err
	}
	return p.buffer.Bytes(), nil
}
