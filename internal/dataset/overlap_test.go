package dataset

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kir/internal/measure"
)

// randomBook is a wide book of recipes of 1 to 8 ingredients, a few of them popular.
func randomBook(random *rand.Rand, recipes, ingredients int) *Book {
	in := make([]string, ingredients)
	for i := range in {
		in[i] = fmt.Sprintf("i%d", i)
	}
	b := &Book{Ingredients: mustIngredients(in...)}
	one, _ := measure.ParseAmount("1")
	for r := range recipes {
		used := make(map[int]bool)
		for range 1 + random.IntN(8) {
			i := random.IntN(ingredients)
			used[min(i, random.IntN(ingredients))] = true
		}
		recipe := Recipe{Name: fmt.Sprintf("r%d", r)}
		for i := range used { // in any order
			recipe.Parts = append(recipe.Parts, Part{Ingredient: int32(i), Amount: one})
		}
		b.Recipes = append(b.Recipes, recipe)
	}
	return b
}

func setOf(r Recipe) []int {
	var set []int
	for _, p := range r.Parts {
		set = append(set, int(p.Ingredient))
	}
	slices.Sort(set)
	return set
}

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b []int
		want float64
	}{
		{nil, nil, 0}, {nil, []int{1}, 0}, {[]int{1}, []int{2}, 0},
		{[]int{1}, []int{1}, 1}, {[]int{1, 5}, []int{1, 2, 3}, 0.5},
		{[]int{2, 3}, []int{1, 2, 3, 9}, 1}, {[]int{1, 2, 3}, []int{3, 4, 5, 6}, 1.0 / 3},
	} {
		if got := Overlap(test.a, test.b); got != test.want {
			t.Errorf("%v and %v overlap by %v, want %v", test.a, test.b, got, test.want)
		}
		if got := Overlap(test.b, test.a); got != test.want {
			t.Errorf("%v and %v overlap by %v, want %v", test.b, test.a, got, test.want)
		}
	}
}

// nearestByHand sorts the whole book.
func nearestByHand(b *Book, set []int, k int) []Neighbour {
	var all []Neighbour
	for r, recipe := range b.Recipes {
		n := Neighbour{Recipe: r, Overlap: Overlap(set, setOf(recipe))}
		for _, i := range setOf(recipe) {
			if slices.Contains(set, i) {
				n.Shared = append(n.Shared, i)
			}
		}
		if len(n.Shared) > 0 {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(p, q Neighbour) int {
		union := func(n Neighbour) int { return len(set) + len(b.Recipes[n.Recipe].Parts) - len(n.Shared) }
		return cmp.Or(cmp.Compare(q.Overlap, p.Overlap), cmp.Compare(len(q.Shared), len(p.Shared)), cmp.Compare(union(p), union(q)))
	})
	return all[:min(k, len(all))]
}

func TestNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	for range 40 {
		b := randomBook(random, 1+random.IntN(200), 2+random.IntN(30))
		for range 50 {
			set := setOf(randomBook(random, 1, b.Ingredients.Len()).Recipes[0])
			k := 1 + random.IntN(12)
			want := nearestByHand(b, set, k)
			random.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
			got := b.NearestRecipes(append(set, set[0]), k)
			if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("nearest to %v are\n%v\nwant\n%v", set, got, want)
			}
		}
	}
}

func TestKnown(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	known := 0
	for range 40 {
		b := randomBook(random, 100, 2+random.IntN(12))
		for range 50 {
			set := setOf(randomBook(random, 1, b.Ingredients.Len()).Recipes[0])
			want := slices.IndexFunc(b.Recipes, func(r Recipe) bool { return slices.Equal(setOf(r), set) })
			random.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
			got, ok := b.RecipeWithSet(set)
			if ok != (want >= 0) || ok && got != want {
				t.Fatalf("%v is recipe %d, %v, want %d", set, got, ok, want)
			}
			if ok {
				known++
			}
		}
	}
	if known < 200 || known > 1800 {
		t.Errorf("%d of 2000 sets are known: the test has lost its meaning", known)
	}
}

func TestNearestOddSets(t *testing.T) {
	book, err := Read(strings.NewReader("recipe,Gin,Rye,Ice\nA,1,1,\nB,,1,\n"), "book.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range [][]int{nil, {}, {2}, {7}, {-1}, {2, 300, -5}} {
		if got := book.NearestRecipes(set, 5); len(got) != 0 {
			t.Errorf("nearest to %v are %v", set, got)
		}
		if r, ok := book.RecipeWithSet(set); ok {
			t.Errorf("%v is recipe %d", set, r)
		}
	}
	if got := book.NearestRecipes([]int{0, 1}, 0); len(got) != 0 {
		t.Errorf("the nearest 0 are %v", got)
	}
	// An ingredient that the book does not have counts for the size of the set.
	want := []Neighbour{{Recipe: 1, Overlap: 1, Shared: []int{1}}, {Recipe: 0, Overlap: 0.5, Shared: []int{1}}}
	if got := book.NearestRecipes([]int{99, 1}, 5); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkNearest(b *testing.B) {
	random := rand.New(rand.NewPCG(8, 1))
	book := randomBook(random, 10000, 500)
	sets := make([][]int, 100)
	for i := range sets {
		sets[i] = setOf(randomBook(random, 1, 500).Recipes[0])
	}
	book.NearestRecipes(sets[0], 1)
	b.Run("nearest", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			book.NearestRecipes(sets[i%len(sets)], 3)
		}
	})
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			book.RecipeWithSet(sets[i%len(sets)])
		}
	})
}
