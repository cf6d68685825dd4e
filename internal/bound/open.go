package bound

import "container/heap"

// openBoxes is a heap of the boxes that may still contain a better composition. The first box has the highest
// bound and is divided next.
type openBoxes []*box

func (o openBoxes) Len() int      { return len(o) }
func (o openBoxes) Swap(i, j int) { o[i], o[j] = o[j], o[i] }

// Less puts the box with the higher upper bound first. If the bounds are equal, Less puts the box with the
// greater depth first.
func (o openBoxes) Less(i, j int) bool {
	n, m := o[i], o[j]
	return n.UpperBound > m.UpperBound || n.UpperBound == m.UpperBound && n.Depth > m.Depth
}

// Push and Pop implement [heap.Interface]. Other code calls add and removeFirst.
func (o *openBoxes) Push(n any) { *o = append(*o, n.(*box)) }

func (o *openBoxes) Pop() any {
	last := len(*o) - 1
	n := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return n
}

func (o *openBoxes) add(n *box)        { heap.Push(o, n) }
func (o *openBoxes) removeFirst() *box { return heap.Pop(o).(*box) }
