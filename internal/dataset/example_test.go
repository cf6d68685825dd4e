package dataset_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"kir/internal/dataset"
	"kir/internal/measure"
)

const drinks = `recipe,ingredient,amount,unit,taste
Kir royal,Champagne,9,cl,Fresh
Kir royal,Crème de cassis,1,cl,Fresh
Negroni,Gin,3,cl,Bittersweet
Negroni,Sweet Vermouth,3,cl,Bittersweet
Negroni,Campari,3,cl,Bittersweet
Manhattan,Rye Whiskey,5,cl,Boozy
Manhattan,Sweet Vermouth,2,cl,Boozy
Manhattan,Angostura bitters,1,dash,Boozy
`

func ExampleRead() {
	book, err := dataset.Read(strings.NewReader(drinks), "drinks.csv", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i, r := range book.Recipes {
		fmt.Printf("%s, %s:", r.Name, book.Labels[0].Value(i))
		for _, p := range r.Parts {
			fmt.Printf(" %s %v %s.", book.Ingredients.Names[p.Ingredient], p.Amount, p.Unit.Name)
		}
		fmt.Println()
	}
	// Output:
	// Kir royal, Fresh: Champagne 9 cl. Crème de cassis 1 cl.
	// Negroni, Bittersweet: Gin 3 cl. Sweet Vermouth 3 cl. Campari 3 cl.
	// Manhattan, Boozy: Rye Whiskey 5 cl. Sweet Vermouth 2 cl. Angostura bitters 1 dash.
}

// In the wide form the caller says which columns are labels.
func ExampleRead_wide() {
	const wide = "recipe,taste,Champagne,Crème de cassis,Gin\nKir royal,Fresh,9,1,\nNaked gin,Boozy,,,1\n"
	book, err := dataset.Read(strings.NewReader(wide), "wide.csv", dataset.Options{Labels: []string{"taste"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(book.Recipes), "recipes of", book.Ingredients.Len(), "ingredients")
	fmt.Println(book.Labels[0].Name, book.Labels[0].Classes, book.Labels[0].Counts)
	// Output:
	// 2 recipes of 3 ingredients
	// taste [Boozy Fresh] [1 1]
}

func ExampleError() {
	_, err := dataset.Read(strings.NewReader(drinks+"Manhattan,Vermouth,2,clx,Boozy\n"), "drinks.csv", dataset.Options{})
	var e *dataset.Error
	if errors.As(err, &e) {
		fmt.Println("line", e.Line, "column", e.Column)
		fmt.Println(e.Message)
	}
	// Output:
	// line 10 column 22
	// unknown unit "clx"
}

func ExampleBook_Closure() {
	book, err := dataset.Read(strings.NewReader(drinks), "drinks.csv", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i, r := range book.Recipes {
		units, err := book.Closure(i, 1000)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Name, units)
	}
	// Output:
	// Kir royal [900 100]
	// Negroni [334 333 333]
	// Manhattan [705 282 13]
}

func ExampleBook_NearestRecipes() {
	book, err := dataset.Read(strings.NewReader(drinks), "drinks.csv", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var set []int
	for _, name := range []string{"Gin", "Sweet Vermouth", "Angostura bitters"} {
		i, _ := book.Ingredients.Index(name)
		set = append(set, i)
	}
	_, known := book.RecipeWithSet(set)
	fmt.Println("known:", known)
	for _, n := range book.NearestRecipes(set, 3) {
		fmt.Printf("%s %.2f", book.Recipes[n.Recipe].Name, n.Overlap)
		for _, i := range n.Shared {
			fmt.Print(", ", book.Ingredients.Names[i])
		}
		fmt.Println()
	}
	// Output:
	// known: false
	// Negroni 0.67, Gin, Sweet Vermouth
	// Manhattan 0.67, Sweet Vermouth, Angostura bitters
}

func ExampleUnits_With() {
	units, err := measure.DefaultUnits().With("jigger", "4.5 cl")
	if err != nil {
		log.Fatal(err)
	}
	jigger, _ := units.Lookup("Jiggers")
	fmt.Println(jigger.Name, jigger.Size, jigger.Kind)
	// Output: jigger 4.5 a volume
}

func ExampleReadIngredients() {
	const list = "name,group,abv\nGin,spirit,40\nIce,,\nCampari,bitter,25\n"
	in, err := dataset.ReadIngredients(strings.NewReader(list), "ingredients.csv", dataset.Layout{})
	if err != nil {
		log.Fatal(err)
	}
	abv, _ := in.Attribute("abv")
	numbers, err := abv.Numbers()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in.Names, numbers)
	group, _ := in.Attribute("group")
	_, err = group.Numbers()
	fmt.Println(err)
	// Output:
	// [Gin Ice Campari] [40 NaN 25]
	// ingredients.csv:2:5: "spirit" is not a number, so "group" cannot be used as one: write a number, or leave it empty if it is not known
}

func ExampleOverlap() {
	fmt.Println(dataset.Overlap([]int{1, 2, 3}, []int{2, 3, 4, 5}))
	// Output: 0.6666666666666666
}

func ExampleSpellingVariants() {
	for _, names := range dataset.SpellingVariants([]string{"Gin", "Lime juice", "gin", "Lime  Juice", "GIN", "Rum"}) {
		fmt.Printf("%q\n", names)
	}
	// Output:
	// ["Gin" "gin" "GIN"]
	// ["Lime juice" "Lime  Juice"]
}
