"""scikit-learn's random forest and expected improvement, as bench/campaign has it."""

import protocol
from ask_sklearn_gp import chooser

if __name__ == "__main__":
    protocol.serve(["scikit-learn"], chooser("rf"))
