package rule

// Require means that all listed ingredients are used.
type Require struct{ Of []int }

// Exclude means that none of the listed ingredients is used.
type Exclude struct{ Of []int }

func (r Require) describe(s *Set) string { return "require " + s.namesOf(r.Of) }

func (r Exclude) describe(s *Set) string { return "exclude " + s.namesOf(r.Of) }

func (r Require) check(s *Set) error { return s.checkIngredients(r.Of...) }

func (r Exclude) check(s *Set) error { return s.checkIngredients(r.Of...) }

// A Need means that if one ingredient is used, at least one of some others is used, too.
type Need struct {
	If   int
	Then []int
}

func (r Need) describe(s *Set) string { return s.NameOf(r.If) + " needs " + s.namesOf(r.Then) }

func (r Need) check(s *Set) error { return s.checkIngredients(append([]int{r.If}, r.Then...)...) }
