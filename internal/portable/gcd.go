package portable

// GCD returns the greatest common divisor of a and b, at least 0. If b is 0, GCD returns |a|.
func GCD[T int | int64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
