package kir

// UncheckedAccelerated returns the kernel without looking whether it can reach
// everything that the target allows.
func UncheckedAccelerated(t *Target) Kernel { return &Accelerated{t} }

// UncheckedGibbs is as UncheckedAccelerated.
func UncheckedGibbs(t *Target) Kernel { return &Gibbs{t} }
