package recipe

// manyParts is from where on a recipe's parts are looked up in a map.
const manyParts = 24

// A recipeList grows without copying what it has: books may hold millions.
type recipeList struct {
	chunks [][]Recipe // each but the last is full
	count  int
}

// recipeChunk is how many recipes a chunk of a recipeList holds.
const recipeChunk = 1 << 12

// add appends a recipe and returns its number.
func (l *recipeList) add(r Recipe) int32 {
	if l.count%recipeChunk == 0 {
		l.chunks = append(l.chunks, make([]Recipe, 0, min(recipeChunk, 64+l.count)))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, r)
	l.count++
	return int32(l.count - 1)
}

// at returns a recipe by its number. It is valid until the next add.
func (l *recipeList) at(i int32) *Recipe {
	return &l.chunks[i/recipeChunk][i%recipeChunk]
}

// all returns the recipes in one slice and empties the list.
func (l *recipeList) all() []Recipe {
	all := make([]Recipe, 0, l.count)
	for i, chunk := range l.chunks {
		all = append(all, chunk...)
		l.chunks[i] = nil
	}
	*l = recipeList{}
	return all
}
