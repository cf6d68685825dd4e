package mcmc

import "kir/rule"

// Doses are the amounts lo, lo+step … that are at most hi.
type doses struct{ lo, hi, step int }

// dosesOf returns those that conditions allow each ingredient, nil if they allow all.
func dosesOf(c *rule.Conditions) []doses {
	all, bounded := make([]doses, len(c.Amounts)), false
	for i, a := range c.Amounts {
		lo, step, n := a.Doses(c.Total)
		if all[i] = (doses{lo, lo + (n-1)*step, step}); a.Excluded || n == 0 {
			all[i] = doses{1, 0, 1}
			continue
		}
		bounded = bounded || all[i] != doses{1, c.Total, 1}
	}
	if !bounded {
		return nil
	}
	return all
}
