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

// Names of the columns that every part has. Programs that read all parts as one table derive a
// column chain from the directory's name.
const (
	drawColumn       = "draw"
	densityColumn    = "log_density"
	usedColumn       = "used"
	ingredientColumn = "ingredient"
	amountColumn     = "amount"
)

// reservedNames returns the names that no property may have, since other columns use them.
func reservedNames() []string {
	return []string{"chain", drawColumn, densityColumn, usedColumn, ingredientColumn, amountColumn}
}

// A table holds the schema and names that all parts of a run share.
type table struct {
	schema       *parquet.Schema
	scores       int
	conditions   []Condition
	names        []string        // of the ingredients
	amountValues []parquet.Value // of the smaller amounts, at any place of a list but the first
	codec        *zstd.Codec     // zstd, because its bytes are the same on every machine, unlike those of Snappy in this library
}

// ingredientIndex returns the index of the ingredients' column. The next one holds their amounts.
func (t *table) ingredientIndex() int { return 3 + t.scores + len(t.conditions) }

// newTable returns the table of draws with scores of the named properties and values of conditions.
func newTable(properties []string, conditions []Condition, ingredients []string) *table {
	t := &table{schema: drawSchema(properties, conditions), scores: len(properties), conditions: conditions, names: ingredients, codec: &zstd.Codec{Level: zstd.SpeedFastest}}
	for amount := range int32(1 << 12) {
		t.amountValues = append(t.amountValues, t.amountValue(amount))
	}
	return t
}

// ingredientValue returns the value of an ingredient. It shares the memory of the name, which the
// library only reads.
func (t *table) ingredientValue(i int32) parquet.Value {
	name := t.names[i]
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(name), len(name))).Level(1, 1, t.ingredientIndex())
}

// amountValue returns the value of an amount.
func (t *table) amountValue(amount int32) parquet.Value {
	if int(amount) < len(t.amountValues) {
		return t.amountValues[amount]
	}
	return parquet.Int32Value(amount).Level(1, 1, t.ingredientIndex()+1)
}

// columns is a group that keeps its fields in the given order.
type columns struct {
	parquet.Group
	fields []parquet.Field
}

func (c *columns) Fields() []parquet.Field { return c.fields }

// GoType is required by the library, which calls it only to convert rows.
func (c *columns) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

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
	group := &columns{Group: nodes}
	byName := make(map[string]parquet.Field)
	for _, f := range nodes.Fields() {
		byName[f.Name()] = f
	}
	for _, name := range order {
		group.fields = append(group.fields, byName[name])
	}
	return parquet.NewSchema("draws", group)
}

// partDraws and partEntries are the numbers of draws, and of ingredients in draws, after which a
// part ends, at the next end of a segment.
const (
	partDraws   = 1 << 16
	partEntries = 1 << 19
)

// flushDraws is the number of draws passed to the library at once.
const flushDraws = 64

// A partWriter writes a part of draws in memory.
type partWriter struct {
	table          *table
	out            bytes.Buffer
	writer         *parquet.GenericWriter[any]
	columns        []*parquet.ColumnWriter
	values         [][]parquet.Value // by column, not yet handed over
	draws          int
	entries        int
	order, amounts []int32 // scratch
	conditions     []int32 // scratch
}

// The keys of a part's metadata.
const (
	runKey   = "kir.run"
	chainKey = "kir.chain"
)

func (t *table) newPart(run string, chain int) *partWriter {
	p := &partWriter{table: t}
	p.writer = parquet.NewGenericWriter[any](&p.out, t.schema, parquet.Compression(t.codec), parquet.CreatedBy("kir", "1", ""),
		parquet.KeyValueMetadata(runKey, run), parquet.KeyValueMetadata(chainKey, strconv.Itoa(chain)), parquet.PageBufferSize(1<<17),
		parquet.SkipPageBounds(ingredientColumn, "list", "element"))
	p.columns = p.writer.ColumnWriters()
	p.values = make([][]parquet.Value, len(p.columns))
	return p
}

// add appends a draw, its ingredients in ascending order.
func (p *partWriter) add(draw int, x *mcmc.State, scores []float64) error {
	p.order = append(p.order[:0], x.Composition.Ingredients()...)
	slices.Sort(p.order)
	amounts := x.Composition.Amounts()
	p.amounts = p.amounts[:0]
	for _, i := range p.order {
		p.amounts = append(p.amounts, amounts[i])
	}
	p.conditions = x.Composition.AppendConditions(p.conditions[:0])
	return p.appendDraw(draw, x.LogDensity(), p.order, p.amounts, p.conditions, scores)
}

// appendDraw appends a draw given by its numbers.
func (p *partWriter) appendDraw(draw int, density float64, list, amounts, conditions []int32, scores []float64) error {
	put := func(k int, v parquet.Value) { p.values[k] = append(p.values[k], v.Level(0, 0, k)) }
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
		if c := &p.table.conditions[at]; c.Numbers != nil {
			value = number(c.Numbers[v])
		} else {
			value = parquet.ByteArrayValue([]byte(c.Categories[v]))
		}
		put(3+len(scores)+at, value)
	}
	k := p.table.ingredientIndex()
	ingredients, units := p.values[k], p.values[k+1]
	from := len(ingredients)
	for at, i := range list {
		ingredients, units = append(ingredients, p.table.ingredientValue(i)), append(units, p.table.amountValue(amounts[at]))
	}
	ingredients[from], units[from] = ingredients[from].Level(0, 1, k), units[from].Level(0, 1, k+1)
	p.values[k], p.values[k+1] = ingredients, units
	p.draws++
	p.entries += len(list)
	if p.draws%flushDraws == 0 {
		return p.flush()
	}
	return nil
}

// flush passes the buffered values to the library.
func (p *partWriter) flush() error {
	for k, c := range p.columns {
		if len(p.values[k]) == 0 {
			continue
		}
		if _, err := c.WriteRowValues(p.values[k]); err != nil {
			return err
		}
		p.values[k] = p.values[k][:0]
	}
	return nil
}

func (p *partWriter) isFull() bool { return p.draws >= partDraws || p.entries >= partEntries }

// close returns the file.
func (p *partWriter) close() ([]byte, error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	if err := p.writer.Close(); err != nil {
		return nil, err
	}
	return p.out.Bytes(), nil
}
