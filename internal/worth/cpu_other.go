//go:build !unix

package worth

import "time"

// CPU returns the seconds since 1970: here nothing tells processor time.
func CPU() float64 { return float64(time.Now().UnixNano()) / 1e9 }
