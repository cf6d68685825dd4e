package dataset

import "kir/internal/inputerr"

// An Error is a fault in a file: the position, what is wrong, and what to write instead. Failures
// of the machine, such as an unreadable disk, are errors of other types.
type Error = inputerr.Error
