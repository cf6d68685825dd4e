package dataset

import "kir/internal/inputerr"

// An Error is a fault in a file: its position, the fault, and what to write instead. Failures of
// the machine, such as an unreadable disk, are other errors.
type Error = inputerr.Error
