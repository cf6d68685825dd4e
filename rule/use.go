package rule

// Require is the rule that all listed ingredients are used.
type Require struct{ Of []int }

// Exclude is the rule that none of the listed ingredients is used.
type Exclude struct{ Of []int }

func (r Require) describe(s *Set) string { return "require " + s.joinNames(r.Of) }

func (r Exclude) describe(s *Set) string { return "exclude " + s.joinNames(r.Of) }

func (r Require) check(s *Set) error { return s.checkIngredients(r.Of...) }

func (r Exclude) check(s *Set) error { return s.checkIngredients(r.Of...) }

// A Need is the rule that if ingredient If is used, at least one of the ingredients Then is used, too.
type Need struct {
	If   int   // index of the ingredient that needs another ingredient
	Then []int // indices of the ingredients of which at least one is needed
}

func (r Need) describe(s *Set) string { return s.NameOf(r.If) + " needs " + s.joinNames(r.Then) }

func (r Need) check(s *Set) error { return s.checkIngredients(append([]int{r.If}, r.Then...)...) }
