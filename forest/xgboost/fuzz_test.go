package xgboost

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// seeds are recorded models, and their beginnings.
func seeds(f *testing.F) {
	paths, err := filepath.Glob("../../bench/models/testdata/*.[uj]*")
	if err != nil || len(paths) < 10 {
		f.Fatalf("%d models are recorded: %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 6000 && filepath.Base(path) != "manifest.json" {
			f.Add(data)
		}
	}
	f.Add([]byte(`{"version":[2,1,0],"learner":{"feature_names":[],"gradient_booster":{"name":"gbtree","model":{"tree_info":[0],"trees":[{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[0,0,0],"split_conditions":[NaN,1,-1],"default_left":[1,0,0],"split_type":[1,0,0],"categories":[1,3],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[2],"tree_param":{"size_leaf_vector":"1"}}]}},"learner_model_param":{"base_score":"[5E-1]","num_class":"0","num_feature":"2","num_target":"1"},"objective":{"name":"binary:logistic"}}}`))
}

func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(m.Inputs) < 1000 {
			sums := m.Sums(make([]float64, len(m.Inputs)))
			for _, o := range m.Outputs[:min(len(m.Outputs), 10)] {
				o.Of(sums, max(len(o.Classes)-1, 0))
			}
		}
	})
}
