"""Ax's client with its default generation strategy, without the centre of the space as the first offer.

Beside sparse trials the centre makes Ax sample by rejection, which finds nothing where there are many ingredients.

The last ingredient is left out of the parameters, as their sum is at most 1. Among the recipes of a table Ax offers
shares, and the nearest untried recipe of the table is taken. Ax refuses trials outside its constraints: they are left
out.
"""

import logging

import protocol
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig


def offers(q):
    logging.getLogger("ax").setLevel(logging.ERROR)
    *free, last = q.names
    r = q.rules
    rules = [" + ".join(free) + " <= 1"]
    if "price" in r:
        *dear, rest = r["price"]
        terms = [f"{p - rest} * {n}" for n, p in zip(free, dear) if p != rest]
        if terms:
            rules.append(" + ".join(terms) + f" <= {r['budget'] - rest}")
    for g in r.get("groups", []):
        members = [q.names[k] for k in g["members"]]
        if last not in members:
            rules.append(" + ".join(members) + f" <= {g['most']}")
        else:
            rules.append(" + ".join(n for n in free if n not in members) + f" >= {1 - g['most']}")
    client = Client(random_seed=q.seed)
    client.configure_experiment(
        parameters=[RangeParameterConfig(name=n, parameter_type="float", bounds=(0, 1)) for n in free],
        parameter_constraints=rules)
    client.configure_optimization(objective="y")
    client.configure_generation_strategy(initialize_with_center=False)
    for x, y in zip(q.x, q.y):
        try:
            trial = client.attach_trial(parameters={n: float(v) for n, v in zip(free, x)})
        except ValueError:
            continue
        client.complete_trial(trial_index=trial, raw_data={"y": float(y)})
    batch = client.get_next_trials(max_trials=q.n)
    shares = [[t[n] for n in free] for t in batch.values()]
    return [[*s, max(0.0, 1 - sum(s))] for s in shares]


def choose(q):
    return protocol.nearest(q.pool, offers(q))


if __name__ == "__main__":
    protocol.serve(["ax-platform", "botorch", "torch"], choose, offers)
