package problem

import (
	"errors"
	"io"

	"kir/fault"
	"kir/forest"
)

// largestForest bounds what is read of the file of a forest.
const largestForest = 1 << 30

// loadForest loads a forest that kir train saved, for this problem's
// ingredients and total.
func (l *loader) loadForest(n *node) (*forest.Forest, error) {
	var f *forest.Forest
	err := l.readNamed(n, "the file of the forest", func(r io.Reader, _ string) (err error) {
		f, err = forest.Read(io.LimitReader(r, largestForest))
		return err
	})
	if err != nil {
		if bad := (*fault.Error)(nil); errors.As(err, &bad) || l.ctx.Err() != nil {
			return nil, err
		}
		return nil, hint(n.errorf("%s is no forest that can be used: %v", fault.Quote(n.text), err), "save it anew with kir train")
	}
	if f.Total() != l.problem.Total {
		return nil, hint(n.errorf("the forest was grown for a total of %d units and the problem has %d", f.Total(), l.problem.Total), "change the total, or grow it with kir train --total %d", l.problem.Total)
	}
	names := f.Ingredients()
	for k, name := range l.problem.Ingredients {
		if k >= len(names) || names[k] != name {
			return nil, hint(n.errorf("the forest was grown on other ingredients: the problem's number %d is %s", k+1, fault.Quote(name)), "%s", l.growAnew())
		}
	}
	if len(names) != len(l.problem.Ingredients) {
		return nil, hint(n.errorf("the forest was grown on %d ingredients and the problem has %d", len(names), len(l.problem.Ingredients)), "%s", l.growAnew())
	}
	return f, nil
}

// growAnew says how to grow a forest that fits the problem.
func (l *loader) growAnew() string {
	n := l.fields["ingredients"]
	if n != nil && n.kind == mapping {
		n = n.get("file")
	}
	if n != nil && n.kind == text {
		return "grow it with kir train --ingredients " + fault.Quote(n.text)
	}
	return "grow it on these recipes with kir train"
}
