package paper_test

import (
	"fmt"

	"kir/internal/paper"
	"kir/mcmc"
)

// The exact rates of the paper's Algorithm 2 on its first target.
func ExampleExact() {
	space, err := mcmc.NewSpace(10, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 5))
	if err != nil {
		fmt.Println(err)
		return
	}
	rates, err := paper.Exact(paper.KernelAccelerated, target)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accepted %.5f %%, updated %.5f %%\n", 100*rates.Accepted, 100*rates.Updated)
	// Output: accepted 95.63623 %, updated 53.77804 %
}
