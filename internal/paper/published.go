package paper

// A Published is the mean and the standard deviation of a rate that the paper prints, in percent. A field is nil
// if the value was not available to us.
type Published struct {
	Mean, SD *float64
}

func publishedMean(mean float64) Published { return Published{Mean: &mean} }

func publishedMeanSD(mean, sd float64) Published { return Published{&mean, &sd} }

// A rateKey identifies a rate in the tables of the experiments: by target, kernel and kind of rate.
type rateKey struct {
	Target, Kernel string
	Rate           string // "accepted" or "updated"
}

// These constants are the names of the two rates.
const (
	Accepted = "accepted"
	Updated  = "updated"
)

// publishedRates holds the rates of the paper that were available to us. The first entries are the accepted rates
// of the small setting, with the standard deviations over ten sequences. The other entries are the updated rates
// of the Gibbs sampler. The paper's naive column is listed under the kernel that the paper describes, although
// the numbers fit another kernel.
var publishedRates = map[rateKey]Published{
	{"small a", KernelNaive, Accepted}:       publishedMeanSD(70.40, 0.430),
	{"small b", KernelNaive, Accepted}:       publishedMeanSD(85.91, 0.437),
	{"small a", KernelGibbs, Accepted}:       publishedMeanSD(100.00, 0.000),
	{"small b", KernelGibbs, Accepted}:       publishedMeanSD(100.00, 0.000),
	{"small a", KernelAccelerated, Accepted}: publishedMeanSD(95.58, 0.008),
	{"small b", KernelAccelerated, Accepted}: publishedMeanSD(95.85, 0.001),
	{"small a", KernelGibbs, Updated}:        publishedMean(8.79),
	{"small b", KernelGibbs, Updated}:        publishedMean(4.96),
	{"large a", KernelGibbs, Updated}:        publishedMean(0.43),
	{"large b", KernelGibbs, Updated}:        publishedMean(0.10),
	{"large c", KernelGibbs, Updated}:        publishedMean(0.14),
	{"large d", KernelGibbs, Updated}:        publishedMean(0.03),
}

// PublishedRate returns the paper's value of a rate, with nil fields if the value is unknown.
func PublishedRate(target, kernel, rate string) Published {
	return publishedRates[rateKey{target, kernel, rate}]
}

// publishedCounts is Table 1 of the paper: item n−1 is the number of compositions of 5 units over 50 ingredients
// that use n ingredients.
var publishedCounts = []string{"50", "4900", "117600", "921200", "2118760"}

// publishedIngredients is the number of ingredients that the paper states for the cocktail data.
const publishedIngredients = 65

// publishedRecipeCounts maps n to the number of recipes of the paper that use n ingredients.
var publishedRecipeCounts = map[int]int{2: 13, 3: 29, 4: 24, 5: 3}
