"""Sites that are made for the tests: each has some items, and some columns, of three separated clusters."""

import numpy as np
import pandas as pd

from consilience.sites import SiteSummary, summarise_site

N_ITEMS, N_COLUMNS = 150, 6


def whole_table(seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Return features of all items and their true clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(N_ITEMS) % 3
    means = np.array([[0, 0, 0, 0, 0, 0], [8, 8, 8, 0, 0, 8], [8, 0, 8, 8, 8, 0]], dtype=float)
    names = pd.Index([f"item {number:03}" for number in range(N_ITEMS)])
    columns = [f"feature {number}" for number in range(N_COLUMNS)]
    values = means[truth] + rng.normal(size=(N_ITEMS, N_COLUMNS))
    return pd.DataFrame(values, index=names, columns=columns), pd.Series(truth, index=names)


def some_sites(seed: int = 0, *, n_sites: int = 4, **options: object) -> tuple[list[SiteSummary], pd.Series]:
    """Return summaries of sites with 100 items and four columns each, and the true clusters."""
    table, truth = whole_table(seed)
    rng = np.random.default_rng(seed + 1)
    summaries = []
    for number in range(n_sites):
        rows = rng.choice(N_ITEMS, 100, replace=False)
        columns = rng.choice(N_COLUMNS, 4, replace=False)
        here = table.iloc[rows, columns]
        summaries.append(summarise_site(here, site=f"site {number}", random_state=number, **options))
    return summaries, truth
