// Command bread writes the trials of the bread example:
//
//	go run -C bench ./generate/bread
//
// Nobody baked these loaves. How much one is liked follows from a formula of its amounts and of how it was baked, and
// from normal errors. The random numbers are those of math/rand/v2, PCG with the seed (1, 1).
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strings"
)

func main() {
	if err := os.WriteFile("../examples/bread/trials.csv", []byte(trials()), 0o644); err != nil {
		log.Fatal(err)
	}
}

// trials returns the table.
func trials() string {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("recipe,Wheat flour,Rye flour,Water,Salt,Sugar,Butter,temperature,time,oven,liking\n")
	for k := range 120 {
		rye, water, salt := float64(5*r.IntN(7)), float64(58+2*r.IntN(11)), 1+0.25*float64(r.IntN(7))
		sugar, butter := 0.0, 0.0
		if r.IntN(2) == 0 {
			sugar = float64(1 + r.IntN(6))
		}
		if r.IntN(2) == 0 {
			butter = float64(1 + r.IntN(6))
		}
		temperature, time, oven := 190+10*r.IntN(7), 25+5*r.IntN(6), []string{"deck", "fan"}[r.IntN(2)]
		heat := float64(temperature)
		if oven == "fan" {
			heat += 20
		}
		// Sugar and butter brown early; rye takes longer.
		best := 225 - 3*sugar - 1.5*butter
		long := 35 + rye/5 - (heat-best)/4
		liking := 62 - math.Pow((heat-best)/12, 2) - math.Pow((float64(time)-long)/6, 2) - math.Pow((water-68-rye/4)/5, 2) -
			4*math.Pow(salt-1.9, 2) + 0.8*butter - math.Pow((rye-12)/14, 2) + 1.5*r.NormFloat64()
		fmt.Fprintf(&b, "loaf %d,%g,%g,%g,%g,%g,%g,%d,%d,%s,%.1f\n", k+1, 100-rye, rye, water, salt, sugar, butter, temperature, time, oven, max(liking, 0))
	}
	return b.String()
}
