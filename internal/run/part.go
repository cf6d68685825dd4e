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

// Names of the columns that every part has. Programs that read all parts as one table derive
// another column, chain, from the name of the directory.
const (
	drawColumn       = "draw"
	densityColumn    = "log_density"
	usedColumn       = "used"
	ingredientColumn = "ingredient"
	amountColumn     = "amount"
)

// reservedColumnNames returns the names that no property may have, since columns of the draws have these
// names.
func reservedColumnNames() []string {
	return []string{"chain", drawColumn, densityColumn, usedColumn, ingredientColumn, amountColumn}
}

// A partLayout holds the schema and the names that all parts of a run share.
type partLayout struct {
	schema          *parquet.Schema
	scoreCount      int
	conditions      []Condition
	ingredientNames []string
	amountValues    []parquet.Value // prepared values of the amounts below 2¹², for any position in a draw's list but the first
	codec           *zstd.Codec     // Zstandard compression; its bytes are the same on every machine, unlike those of Snappy in the Parquet library
}

// ingredientColumnIndex returns the index of the column of ingredients. The next column holds the
// amounts.
func (t *partLayout) ingredientColumnIndex() int { return 3 + t.scoreCount + len(t.conditions) }

// newPartLayout returns the layout of parts with the scores of the named properties and the values
// of the conditions.
func newPartLayout(properties []string, conditions []Condition, ingredients []string) *partLayout {
	t := &partLayout{schema: drawSchema(properties, conditions), scoreCount: len(properties), conditions: conditions, ingredientNames: ingredients, codec: &zstd.Codec{Level: zstd.SpeedFastest}}
	for amount := range int32(1 << 12) {
		t.amountValues = append(t.amountValues, t.amountValue(amount))
	}
	return t
}

// ingredientValue returns the Parquet value for ingredient i, at any position in a draw's list but
// the first. The value shares the memory of the ingredient's name, which the library only reads.
func (t *partLayout) ingredientValue(i int32) parquet.Value {
	name := t.ingredientNames[i]
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(name), len(name))).Level(1, 1, t.ingredientColumnIndex())
}

// amountValue returns the Parquet value for an amount, at any position in a draw's list but the
// first.
func (t *partLayout) amountValue(amount int32) parquet.Value {
	if int(amount) < len(t.amountValues) {
		return t.amountValues[amount]
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

// drawSchema returns the schema of a part.
func drawSchema(properties []string, conditions []Condition) *parquet.Schema {
	number := func() parquet.Node { return parquet.Leaf(parquet.DoubleType) }
	dictionary := func(t parquet.Type) parquet.Node {
		return parquet.Encoded(parquet.Leaf(withDictionary(t)), &parquet.RLEDictionary)
	}
	nodes := parquet.Group{
		drawColumn:       parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked),
		densityColumn:    number(),
		usedColumn:       dictionary(parquet.Int32Type),
		ingredientColumn: parquet.List(dictionary(parquet.String().Type())),
		amountColumn:     parquet.List(dictionary(parquet.Int32Type)),
	}
	order := append([]string{drawColumn, densityColumn, usedColumn}, properties...)
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
	order = append(order, ingredientColumn, amountColumn)
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

// A part ends at the end of the segment in which the part reaches fullPartDraws draws, or
// fullPartEntries ingredients in all its draws together.
const (
	fullPartDraws   = 1 << 16
	fullPartEntries = 1 << 19
)

// flushDraws is the number of draws that are passed to the Parquet library at once.
const flushDraws = 64

// A partWriter encodes the draws of a part in memory.
type partWriter struct {
	layout                     *partLayout
	buffer                     bytes.Buffer
	writer                     *parquet.GenericWriter[any]
	columns                    []*parquet.ColumnWriter
	pendingValues              [][]parquet.Value // by column: values that are not yet passed to the library
	draws                      int
	ingredientCount            int
	sortedIngredients, amounts []int32 // reused by [partWriter.add]
	conditions                 []int32 // reused by [partWriter.add]
}

// Keys in the metadata of a part.
const (
	runMetadataKey   = "kir.run"
	chainMetadataKey = "kir.chain"
)

func (t *partLayout) newPartWriter(run string, chain int) *partWriter {
	p := &partWriter{layout: t}
	p.writer = parquet.NewGenericWriter[any](&p.buffer, t.schema, parquet.Compression(t.codec), parquet.CreatedBy("kir", "1", ""),
		parquet.KeyValueMetadata(runMetadataKey, run), parquet.KeyValueMetadata(chainMetadataKey, strconv.Itoa(chain)), parquet.PageBufferSize(1<<17),
		parquet.SkipPageBounds(ingredientColumn, "list", "element"))
	p.columns = p.writer.ColumnWriters()
	p.pendingValues = make([][]parquet.Value, len(p.columns))
	return p
}

// add appends the state x as the draw with the given number.
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

// appendDraw appends a draw. The parameter list holds the ingredients in ascending order, and
// conditions the value index of each condition.
func (p *partWriter) appendDraw(draw int, density float64, list, amounts, conditions []int32, scores []float64) error {
	put := func(k int, v parquet.Value) { p.pendingValues[k] = append(p.pendingValues[k], v.Level(0, 0, k)) }
	put(0, parquet.Int64Value(int64(draw)))
	number := func(v float64) parquet.Value {
		if v == 0 {
			v = 0 // not −0, of which a page's least and greatest may be either
		}
		return parquet.DoubleValue(v)
	}
	put(1, number(density))
	put(2, parquet.Int32Value(int32(len(list))))
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
	ingredients, units := p.pendingValues[k], p.pendingValues[k+1]
	from := len(ingredients)
	for at, i := range list {
		ingredients, units = append(ingredients, p.layout.ingredientValue(i)), append(units, p.layout.amountValue(amounts[at]))
	}
	ingredients[from], units[from] = ingredients[from].Level(0, 1, k), units[from].Level(0, 1, k+1)
	p.pendingValues[k], p.pendingValues[k+1] = ingredients, units
	p.draws++
	p.ingredientCount += len(list)
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

func (p *partWriter) isFull() bool {
	return p.draws >= fullPartDraws || p.ingredientCount >= fullPartEntries
}

// close ends the part and returns the bytes of its file.
func (p *partWriter) close() ([]byte, error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	if err := p.writer.Close(); err != nil {
		return nil, err
	}
	return p.buffer.Bytes(), nil
}
