package run

func (s *Spec) bounded() error { return nil }
