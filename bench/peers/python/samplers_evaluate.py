"""How pymoo and DEAP ask for losses: genes in 0..1 go out, and losses come back, null for what breaks a rule.

A question has genes, objectives, start (genes of the first generation) and seed.
"""

import json
import os
import sys

out = os.fdopen(os.dup(1), "w")


def losses(genes):
    """Return the losses of each list of genes, and how many may still be asked for."""
    print(json.dumps({"evaluate": [[float(g) for g in of] for of in genes]}), file=out, flush=True)
    said = json.loads(sys.stdin.readline())
    return said["losses"], said["left"]
