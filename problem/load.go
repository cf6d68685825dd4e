package problem

import (
	"errors"

	"kir/fault"
	"kir/forest"
)

// loadForest loads a forest that kir train saved, for this problem's
// ingredients and total.
func (l *loader) loadForest(n *node) (*forest.Forest, error) {
	file, closeInput, err := l.openInput(n, "the file of the forest")
	if err != nil {
		return nil, err
	}
	f, err := forest.Read(file)
	if closed := closeInput(); err == nil {
		err = closed
	}
	if err != nil {
		if bad := (*fault.Error)(nil); errors.As(err, &bad) {
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
			return nil, hint(n.errorf("the forest was grown on other ingredients: the problem's number %d is %s", k+1, fault.Quote(name)), "grow it on these recipes with kir train")
		}
	}
	if len(names) != len(l.problem.Ingredients) {
		return nil, hint(n.errorf("the forest was grown on %d ingredients and the problem has %d", len(names), len(l.problem.Ingredients)), "grow it on these recipes with kir train")
	}
	return f, nil
}
