package randomproblem

import (
	"fmt"
	"slices"
)

// NewRuled draws a problem as New does, whose rules are of every kind: those on
// parts of a composition, those behind conditions, and those of tables.
func NewRuled(seed uint64) *Problem {
	for try := uint64(0); ; try++ {
		d := newDice(seed, 1<<42|try)
		p := &Problem{Pantry: drawPantry(d), Seed: seed}
		if len(p.Names) < 2 || p.Total < 2 {
			continue
		}
		p.Law = p.drawLaw(d)
		for range d.between(1, 3) {
			if r := p.drawAnyRule(d); r != nil {
				p.Rules = append(p.Rules, *r)
			}
		}
		if d.chance(0.3) {
			p.drawWishes(d)
		}
		e := p.feasible()
		if e.thin && !d.chance(0.02) || len(e.States) == 0 && !d.chance(0.1) {
			continue
		}
		if p.scored(e) {
			return p
		}
	}
}

// drawAnyRule draws a rule of any kind, nil if its kind does not fit the problem.
func (p *Pantry) drawAnyRule(d dice) *Rule {
	switch one(d, "plain", "ratio", "ratio", "mean", "mean", "near", "near", "if", "if", "if", "block", "block", "columns", "stock", "limits", "constituents") {
	case "ratio":
		return p.drawRatio(d)
	case "mean":
		return p.drawMean(d)
	case "near":
		return p.drawNear(d)
	case "if":
		return p.drawIf(d)
	case "block":
		return p.drawBlock(d)
	case "columns":
		return p.drawColumns(d)
	case "stock":
		return p.drawStock(d)
	case "limits":
		return p.drawLimits(d)
	case "constituents":
		return p.drawConstituents(d)
	}
	return p.drawRule(d)
}

// drawRatio draws bounds on a ratio, in hundredths.
func (p *Pantry) drawRatio(d dice) *Rule {
	a, b := p.drawSelection(d), p.drawSelection(d)
	f := map[string]any{"of": a.yaml, "to": b.yaml}
	low, high := d.IntN(one(d, 30, 300)), 0
	high = low + d.between(1, 300)
	switch d.IntN(3) {
	case 0:
		f["min"], high = float64(low)/100, -1
	case 1:
		f["max"], low = float64(high)/100, 0
	case 2:
		f["min"], f["max"] = float64(low)/100, float64(high)/100
	}
	return &Rule{yaml: map[string]any{"ratio": f}, keeps: func(x []int) bool {
		of, _ := sum(x, a.of)
		to, _ := sum(x, b.of)
		return 100*of >= low*to && (high < 0 || 100*of <= high*to)
	}}
}

// drawMean draws bounds on the mean over some ingredients alone.
func (p *Pantry) drawMean(d dice) *Rule {
	r, s := p.drawLimit(d), p.drawSelection(d)
	f := r.yaml["limit"].(map[string]any)
	f["of"] = s.yaml
	return &Rule{yaml: r.yaml, keeps: p.meanOver(f, s.of)}
}

// meanOver says whether the mean over some ingredients keeps a limit.
func (p *Pantry) meanOver(f map[string]any, of []int) func(x []int) bool {
	c := p.Columns[slices.IndexFunc(p.Columns, func(c Column) bool { return c.Name == f["attribute"] })]
	return func(x []int) bool {
		mean := 0
		for _, i := range of {
			mean += c.Hundredths[i] * x[i]
		}
		units, _ := sum(x, of)
		low, lo := f["min"].(float64)
		high, hi := f["max"].(float64)
		return (!lo || mean >= hundredths(low)*units) && (!hi || mean <= hundredths(high)*units)
	}
}

// hundredths undoes a division by 100.
func hundredths(v float64) int {
	if v < 0 {
		return -hundredths(-v)
	}
	return int(100*v + 0.5)
}

// drawNear draws how far a recipe may be.
func (p *Pantry) drawNear(d dice) *Rule {
	amounts, f := make([]int, len(p.Names)), map[string]any{}
	if len(p.Recipes) > 0 && d.chance(0.6) {
		r := p.Recipes[d.IntN(len(p.Recipes))]
		amounts = r.Amounts
		f["recipe"] = r.Name
	} else {
		of, left, recipe := d.some(d.between(1, min(len(p.Names), p.Total)), len(p.Names)), p.Total, map[string]any{}
		for k, i := range of {
			a := left
			if rest := len(of) - 1 - k; rest > 0 {
				a = d.between(1, left-rest)
			}
			amounts[i] = a
			recipe[p.Names[i]] = p.units(d, a)
			left -= a
		}
		f["recipe"] = recipe
	}
	changes, distance := len(p.Names), p.Total
	if d.chance(0.6) {
		changes = d.between(0, 3)
		f["changes"] = min(changes, len(p.Names))
	}
	if len(f) == 1 || d.chance(0.4) {
		distance = d.between(0, p.Total)
		f["distance"] = p.units(d, distance)
	}
	return &Rule{yaml: map[string]any{"near": f}, keeps: func(x []int) bool {
		come, more := 0, 0
		for i := range x {
			if (x[i] == 0) != (amounts[i] == 0) {
				come++
			}
			more += max(0, x[i]-amounts[i])
		}
		return come <= changes && more <= distance
	}}
}

// drawIf draws one or two rules behind a condition.
func (p *Pantry) drawIf(d dice) *Rule {
	f, used, unused := map[string]any{}, []int{}, []int{}
	if d.chance(0.6) {
		s := p.drawSelection(d)
		f["used"], used = s.yaml, s.of
	}
	if len(f) == 0 || d.chance(0.15) {
		s := p.drawSelection(d)
		f["unused"], unused = s.yaml, s.of
	}
	var then []Rule
	for range one(d, 1, 1, 2) {
		r := p.drawAnyRule(d)
		if r == nil || r.yaml["constituents"] != nil || r.files != nil {
			return nil
		}
		then = append(then, *r)
	}
	if f["then"] = then[0].yaml; len(then) == 2 {
		f["then"] = []any{then[0].yaml, then[1].yaml}
	}
	_, asks := f["used"]
	return &Rule{yaml: map[string]any{"if": f}, keeps: func(x []int) bool {
		_, a := sum(x, used)
		_, b := sum(x, unused)
		if asks && a == 0 || b > 0 {
			return true
		}
		return !slices.ContainsFunc(then, func(r Rule) bool { return !r.keeps(x) })
	}}
}

// drawBlock draws a part with a total of its own, and rules within it.
func (p *Pantry) drawBlock(d dice) *Rule {
	s, total := p.drawSelection(d), d.between(1, p.Total)
	f := map[string]any{"of": s.yaml, "total": p.units(d, total)}
	part := &Pantry{Names: p.Names, Columns: p.Columns, Total: total}
	var rules []any
	var keeps []func(x []int) bool
	for range d.IntN(3) {
		switch i := s.of[d.IntN(len(s.of))]; d.IntN(4) {
		case 0: // all of the part
			least := d.between(1, max(1, total/2))
			rules = append(rules, map[string]any{"amount": map[string]any{"of": "*", "min": part.units(d, least)}})
			keeps = append(keeps, func(x []int) bool {
				return !slices.ContainsFunc(s.of, func(i int) bool { return x[i] > 0 && x[i] < least })
			})
		case 1:
			low := d.between(0, total)
			rules = append(rules, map[string]any{"group": map[string]any{"of": p.Names[i], "total": []any{part.units(d, low), "100%"}}})
			keeps = append(keeps, func(x []int) bool { return x[i] >= low })
		case 2:
			rules = append(rules, map[string]any{"require": p.Names[i]})
			keeps = append(keeps, func(x []int) bool { return x[i] > 0 })
		case 3: // the mean over the part
			r := p.drawLimit(d)
			rules = append(rules, r.yaml)
			keeps = append(keeps, p.meanOver(r.yaml["limit"].(map[string]any), s.of))
		}
	}
	if len(rules) > 0 {
		f["rules"] = rules
	}
	return &Rule{yaml: map[string]any{"block": f}, keeps: func(x []int) bool {
		units, _ := sum(x, s.of)
		return units == total && !slices.ContainsFunc(keeps, func(k func([]int) bool) bool { return !k(x) })
	}}
}

// drawColumns draws bounds of amounts from columns of the ingredients file, some
// of whose cells are empty.
func (p *Pantry) drawColumns(d dice) *Rule {
	s := p.drawSelection(d)
	least, most := make([]int, len(p.Names)), make([]int, len(p.Names))
	low, high := p.column("least", len(p.Columns)), p.column("most", len(p.Columns))
	percent := d.chance(0.3)
	for i := range p.Names {
		least[i], most[i] = 0, p.Total
		tenths := d.between(0, 10*p.Total)
		if percent { // tenths of a percent of the total
			tenths = d.between(0, 1000)
		}
		units := func(t int) string {
			if percent {
				return fmt.Sprintf("%d.%d%%", t/10, t%10)
			}
			return fmt.Sprintf("%d.%d", t/10, t%10)
		}
		of := 10 // of a unit
		whole := tenths
		if percent {
			of, whole = 1000, tenths*p.Total
		}
		if tenths == 0 {
			continue
		}
		switch d.IntN(4) {
		case 0:
			least[i] = (whole + of - 1) / of
			low.Text[i] = units(tenths)
		case 1:
			most[i] = whole / of
			high.Text[i] = units(tenths)
		}
	}
	if !slices.ContainsFunc(s.of, func(i int) bool { return low.Text[i] != "" || high.Text[i] != "" }) {
		return nil
	}
	p.Columns = append(p.Columns, low, high)
	return &Rule{yaml: map[string]any{"amount": map[string]any{"of": s.yaml, "min": low.Name, "max": high.Name}}, keeps: func(x []int) bool {
		return !slices.ContainsFunc(s.of, func(i int) bool { return x[i] > 0 && (x[i] < least[i] || x[i] > most[i]) })
	}}
}

// column returns an empty column of a name that no other has.
func (p *Pantry) column(name string, number int) Column {
	return Column{Name: fmt.Sprintf("%s %d", name, number), Text: make([]string, len(p.Names))}
}

// drawStock draws how much there is of some ingredients, of which a batch is made.
func (p *Pantry) drawStock(d dice) *Rule {
	s := p.drawSelection(d)
	batch := one(d, p.Total, 700, 7)
	f := map[string]any{"of": s.yaml}
	if batch != p.Total {
		f["batch"] = fmt.Sprintf("%d ml", batch)
	}
	have := make([]int, len(p.Names))
	if d.chance(0.5) {
		for i := range have {
			have[i] = d.between(0, 2*batch)
		}
		c := p.column("stock", len(p.Columns))
		for i := range have {
			c.Text[i] = fmt.Sprint(have[i])
		}
		p.Columns = append(p.Columns, c)
		f["stock"] = c.Name
	} else {
		h := d.between(0, 2*batch)
		for i := range have {
			have[i] = h
		}
		if f["stock"] = h; batch != p.Total {
			f["stock"] = fmt.Sprintf("%d ml", h)
		}
	}
	total := p.Total
	return &Rule{yaml: map[string]any{"amount": f}, keeps: func(x []int) bool {
		return !slices.ContainsFunc(s.of, func(i int) bool { return x[i]*batch > have[i]*total })
	}}
}
