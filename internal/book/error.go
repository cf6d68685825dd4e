package book

import "kir/internal/fault"

// An Error is something wrong in a file: where, what, and what would be right.
// Failures of the machine, a disk that cannot be read, are other errors.
type Error = fault.Error
