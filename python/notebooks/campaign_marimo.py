"""A campaign in marimo: two batches of spritz. `marimo edit campaign_marimo.py` opens it; as a script it runs, too."""

import marimo

app = marimo.App()


@app.cell
def _():
    import pathlib

    import pandas as pd

    import kir

    trials = pd.read_csv(pathlib.Path(__file__).parents[2] / "examples" / "spritz" / "trials.csv")
    return kir, trials


@app.cell
def _(kir, trials):
    campaign = kir.Campaign(trials, total=200, maximize="liking", rules=[kir.within_book()])
    first = campaign.next(3)
    first[["id", "predicted liking", "low liking", "high liking"]].round(1)
    return campaign, first


@app.cell
def _(campaign, first):
    # The drinks are mixed and tasted. These three numbers are made up; yours are not.
    recorded = campaign.record(first.assign(liking=[88, 93, 79]))["new"]
    return (recorded,)


@app.cell
def _(campaign, recorded):
    # marimo runs a cell after those whose values it uses: this one waits for the results.
    progress = campaign.progress() if recorded else None
    print(progress)
    progress
    return


if __name__ == "__main__":
    app.run()
