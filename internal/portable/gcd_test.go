package portable

import "testing"

// TestGCD: the greatest common divisor divides both numbers, and no greater number does.
func TestGCD(t *testing.T) {
	for a := -30; a <= 30; a++ {
		for b := -30; b <= 30; b++ {
			want := max(a, -a, b, -b)
			for want > 0 && (a%want != 0 || b%want != 0) {
				want--
			}
			if got := GCD(a, b); got != want || GCD(int64(a), int64(b)) != int64(want) {
				t.Errorf("GCD(%d, %d) is %d, want %d", a, b, got, want)
			}
		}
	}
}
