package run

import (
	"fmt"
	"strconv"
	"strings"
)

// A Shard is one of several that the chains of a run are divided into: Index of
// Count, counted from 1. The zero value is all of them.
type Shard struct{ Index, Count int }

// ParseShard reads "3/16".
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	k, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	s := Shard{k, n}
	if !ok || err != nil || err2 != nil || n < 1 || s.check() != nil {
		return Shard{}, fmt.Errorf("%q is no shard: write K/S, the K-th of S, such as 3/16", text)
	}
	return s, nil
}

func (s Shard) String() string {
	if s.Count == 0 {
		return "all chains"
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

func (s Shard) check() error {
	if s == (Shard{}) || 1 <= s.Index && s.Index <= s.Count {
		return nil
	}
	return fmt.Errorf("there is no shard %d of %d", s.Index, s.Count)
}

// Chains returns the first chain of the shard and the first after it. Shards
// differ in length by one chain at most.
func (s Shard) Chains(chains int) (from, to int) {
	if s.Count == 0 {
		return 0, chains
	}
	return (s.Index - 1) * chains / s.Count, s.Index * chains / s.Count
}

// holds says whether any of the chains are of the shard.
func (s Shard) holds(chains int) bool {
	from, to := s.Chains(chains)
	return from < to
}
