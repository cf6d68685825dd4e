"""Algorithm 2 of Obara, Morimura and Yanagisawa (2019) as a user would write
it: in plain Python, with numpy, and compiled by numba. There are no properties.

An iteration takes a used ingredient i and another ingredient j, both at
random, splits their sum anew by the target's conditional law along that line,
and accepts by the ratio of how likely the pair was to be picked.

Each sampler is made for (ingredients, total, law), the law being a dict of
weights by number of ingredients, and is a function of the number of iterations
that goes on where it was and returns how many of them changed the composition.
"""

import random


def line_weights(ingredients, total, law):
    """The weight of a split at either end and of one between, by how many
    other ingredients are used: y(n)/|X_n| for n and n + 1, the larger being 1."""
    end, inner = [], []
    for n in range(1, max(law) + 1):
        here, next_ = law.get(n, 0.0), law.get(n + 1, 0.0)
        growth = (ingredients - n) * (total - n) / (n * (n + 1))
        if here == 0 or next_ == 0:
            pair = (1.0 if here else 0.0, 1.0 if next_ else 0.0)
        else:
            share = next_ / here / growth
            pair = (1.0, share) if share <= 1 else (1 / share, 1.0)
        end.append(pair[0])
        inner.append(pair[1])
    return end, inner


def start(ingredients, total, law):
    """Some composition of the law's smallest number of ingredients."""
    n = min(k for k, y in law.items() if y > 0)
    x = [0] * ingredients
    for i in range(n):
        x[i] = total // n + (i < total % n)
    return x


def plain(ingredients, total, law):
    end, inner = line_weights(ingredients, total, law)
    x = start(ingredients, total, law)
    used = [i for i in range(ingredients) if x[i]]
    rand = random.Random(1).random

    def run(iterations):
        changed = 0
        for _ in range(iterations):
            n = len(used)
            i = used[int(rand() * n)]
            j = int(rand() * (ingredients - 1))
            if j >= i:
                j += 1
            was, there = x[i], x[j]
            s = was + there
            others = n - 1 - (there > 0)
            e, w = end[others], inner[others]
            u = rand() * (2 * e + (s - 1) * w)
            if u < e:
                k = 0
            elif u < 2 * e:
                k = s
            else:
                k = min(1 + int((u - 2 * e) / w), s - 1)
            if there and (k == 0 or k == s) and rand() * 2 * (n - 1) >= n:
                continue
            if k == was:
                continue
            changed += 1
            x[i], x[j] = k, s - k
            if k == 0:
                used.remove(i)
            if not there:
                used.append(j)
            elif k == s:
                used.remove(j)
        return changed

    return run


def numpy(ingredients, total, law):
    import numpy as np

    end, inner = line_weights(ingredients, total, law)
    x = np.array(start(ingredients, total, law))
    rng = np.random.default_rng(1)

    def run(iterations):
        changed = 0
        for _ in range(iterations):
            used = np.flatnonzero(x)
            n = len(used)
            i = rng.choice(used)
            j = rng.integers(ingredients - 1)
            j += j >= i
            s = x[i] + x[j]
            others = n - 1 - (x[j] > 0)
            weights = np.full(s + 1, inner[others])
            weights[[0, -1]] = end[others]
            k = rng.choice(s + 1, p=weights / weights.sum())
            if x[j] and k in (0, s) and rng.random() * 2 * (n - 1) >= n:
                continue
            changed += int(k != x[i])
            x[i], x[j] = k, s - k
        return changed

    return run


def numba(ingredients, total, law):
    import numba as nb
    import numpy as np

    end, inner = map(np.array, line_weights(ingredients, total, law))
    x = np.array(start(ingredients, total, law))
    used = np.zeros(ingredients, dtype=np.int64)  # the first `count` of them
    place = np.zeros(ingredients, dtype=np.int64)
    count = np.array([np.count_nonzero(x)])
    used[: count[0]] = np.flatnonzero(x)
    place[used[: count[0]]] = np.arange(count[0])

    @nb.njit
    def drop(i, used, place, n):
        last = used[n - 1]
        used[place[i]] = last
        place[last] = place[i]

    @nb.njit
    def go(iterations, x, used, place, count, end, inner):
        n, changed = count[0], 0
        for _ in range(iterations):
            i = used[int(np.random.random() * n)]
            j = int(np.random.random() * (len(x) - 1))
            if j >= i:
                j += 1
            was, there = x[i], x[j]
            s = was + there
            others = n - 1 - (1 if there else 0)
            e, w = end[others], inner[others]
            u = np.random.random() * (2 * e + (s - 1) * w)
            if u < e:
                k = 0
            elif u < 2 * e:
                k = s
            else:
                k = min(1 + int((u - 2 * e) / w), s - 1)
            if there and (k == 0 or k == s) and np.random.random() * 2 * (n - 1) >= n:
                continue
            if k == was:
                continue
            changed += 1
            x[i], x[j] = k, s - k
            if k == 0:
                drop(i, used, place, n)
                n -= 1
            if not there:
                used[n] = j
                place[j] = n
                n += 1
            elif k == s:
                drop(j, used, place, n)
                n -= 1
        count[0] = n
        return changed

    go(1, x, used, place, count, end, inner)  # compiles
    return lambda iterations: go(iterations, x, used, place, count, end, inner)
