"""DEAP's NSGA-II as its example has it: bounded SBX, polynomial mutation, and tournaments of domination.

What breaks a rule has losses that everything else beats.
"""

import random

import samplers_evaluate as evaluate
import samplers_protocol as protocol
from deap import base, creator, tools


def work(question, clock):
    random.seed(question["seed"])
    genes, size = question["genes"], 100
    creator.create("Losses", base.Fitness, weights=(-1.0,) * question["objectives"])
    creator.create("Individual", list, fitness=creator.Losses)
    left = 1

    def score(individuals):
        nonlocal left
        found, left = evaluate.losses(individuals)
        for one, losses in zip(individuals, found):
            one.fitness.values = losses or [1e9] * question["objectives"]

    population = [creator.Individual(of) for of in question["start"]]
    while len(population) < size:
        population.append(creator.Individual(random.random() for _ in range(genes)))
    score(population)
    population = tools.selNSGA2(population, size)
    while left > 0:
        children = [creator.Individual(one) for one in tools.selTournamentDCD(population, size)]
        for one, other in zip(children[::2], children[1::2]):
            if random.random() <= 0.9:
                tools.cxSimulatedBinaryBounded(one, other, eta=20.0, low=0.0, up=1.0)
            for child in (one, other):
                tools.mutPolynomialBounded(child, eta=20.0, low=0.0, up=1.0, indpb=1.0 / genes)
        score(children)
        population = tools.selNSGA2(population + children, size)
    return {}


if __name__ == "__main__":
    protocol.answer(["deap"], work)
