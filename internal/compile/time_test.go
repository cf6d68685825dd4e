package compile

import (
	"testing"
	"time"

	"kir/mcmc"
)

// TestTimeNone: time: none sets no bound, so that it stands beside a number of draws, in the
// file and as a flag.
func TestTimeNone(t *testing.T) {
	const free = "total: 20\ningredients: [Gin, Rum]\nsparsity: {uniform: [1, 2]}\n"
	none, some := time.Duration(0), time.Minute
	for _, c := range []struct {
		sampler string
		time    *time.Duration // a flag's
		draws   int
		fine    bool
	}{
		{"{draws: 20, time: none}", nil, 20, true},
		{"{time: none}", nil, mcmc.AutoDraws, true},
		{"{draws: 20}", &none, 20, true},
		{"{draws: 20, time: 5m}", nil, 20, false},
		{"{draws: 20}", &some, 20, false},
		{"{draws: 20, time: none}", &some, 20, false},
	} {
		p, err := load(t, free+"sampler: "+c.sampler+"\n", Options{Time: c.time})
		if (err == nil) != c.fine {
			t.Errorf("%s: %v", c.sampler, err)
		} else if c.fine && (p.Sampler.Draws != c.draws || p.Time != 0 && c.draws == mcmc.AutoDraws) {
			t.Errorf("%s has %d draws and the time %v", c.sampler, p.Sampler.Draws, p.Time)
		}
	}
}
