package lightgbm

import (
	"bytes"
	"os"
	"testing"
)

// small has all that a tree can have.
const small = `tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=binary sigmoid:1
feature_names=a b c
feature_infos=[0:1] [0:1] 0:1:2
tree_sizes=400 100

Tree=0
num_leaves=5
num_cat=1
split_feature=0 1 2 1
split_gain=1 1 1 1
threshold=0.5 -0.25 0 0
decision_type=2 8 1 6
left_child=1 -1 -3 -4
right_child=2 -2 3 -5
leaf_value=0.1 -0.2 0.3 -0.4 0.5
cat_boundaries=0 2
cat_threshold=6 1
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
leaf_value=0.25
is_linear=0
shrinkage=1


end of trees

parameters:
end of parameters
`

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	data, err := os.ReadFile("testdata/lg_rf_iris.model")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(m.Inputs) < 1000 {
			sums := m.Sums(make([]float64, len(m.Inputs)))
			for _, o := range m.Outputs[:min(len(m.Outputs), 10)] {
				o.Compute(sums, max(len(o.Classes)-1, 0))
			}
		}
	})
}
