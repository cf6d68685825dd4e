package change

import "testing"

// What is nil is not written.
func TestMapping(t *testing.T) {
	m := yamlMapping("of", "Gin", "min", 3, "max", nil, "step", 1)
	if len(m) != 3 || m[0].Key != "of" || m[0].Value != "Gin" || m[1].Key != "min" || m[1].Value != 3 || m[2].Key != "step" {
		t.Errorf("the mapping is %v", m)
	}
}
