package report

import (
	"strings"

	"kir/internal/config/yaml"
)

// A SettingChange is a setting that differs between the problems of two runs, A and B.
type SettingChange struct {
	Setting string `json:"setting"` // keys that lead to the setting, such as "sampler.seed"
	A       string `json:"a"`       // value in the problem of A; empty if it has none
	B       string `json:"b"`       // value in the problem of B; empty if it has none
}

// changedSettings compares the resolved problems a and b, two YAML texts. It returns nil if one
// cannot be read.
func changedSettings(a, b string) []SettingChange {
	x, errA := yaml.Parse("", []byte(a))
	y, errB := yaml.Parse("", []byte(b))
	if errA != nil || errB != nil {
		return nil
	}
	return appendChanges(nil, "", x, y)
}

// appendChanges appends the settings in which the nodes x and y differ. Either may be nil. The keys
// in path lead to both.
func appendChanges(changes []SettingChange, path string, x, y *yaml.Node) []SettingChange {
	switch {
	case x != nil && y != nil && x.Kind == yaml.Mapping && y.Kind == yaml.Mapping:
		for _, e := range x.Entries {
			changes = appendChanges(changes, joinKeys(path, e.Key.Text), e.Value, y.Get(e.Key.Text))
		}
		for _, e := range y.Entries {
			if x.Get(e.Key.Text) == nil {
				changes = appendChanges(changes, joinKeys(path, e.Key.Text), nil, e.Value)
			}
		}
		return changes
	case x != nil && y != nil && x.Kind == yaml.Sequence && y.Kind == yaml.Sequence && hasCollections(x, y):
		left := make(map[string]int) // items of x without an equal in y
		for _, item := range x.Items {
			left[settingText(item)]++
		}
		var added []SettingChange
		for _, item := range y.Items {
			if text := settingText(item); left[text] > 0 {
				left[text]--
			} else {
				added = append(added, SettingChange{Setting: path, B: text})
			}
		}
		for _, item := range x.Items {
			if text := settingText(item); left[text] > 0 {
				left[text]--
				changes = append(changes, SettingChange{Setting: path, A: text})
			}
		}
		return append(changes, added...)
	}
	if a, b := settingText(x), settingText(y); a != b {
		changes = append(changes, SettingChange{Setting: path, A: a, B: b})
	}
	return changes
}

// hasCollections reports whether a sequence has an item that is a mapping or a sequence. Such
// sequences, as that of the constraints, are compared item by item.
func hasCollections(sequences ...*yaml.Node) bool {
	for _, s := range sequences {
		for _, item := range s.Items {
			if item.Kind == yaml.Mapping || item.Kind == yaml.Sequence {
				return true
			}
		}
	}
	return false
}

// joinKeys appends a key to the keys that lead to a setting.
func joinKeys(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// settingText writes a node in one line; "" for nil.
func settingText(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	var list []string
	switch n.Kind {
	case yaml.Mapping:
		for _, e := range n.Entries {
			list = append(list, e.Key.Text+": "+settingText(e.Value))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case yaml.Sequence:
		for _, item := range n.Items {
			list = append(list, settingText(item))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return n.Text
}
