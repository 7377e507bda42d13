"""Paper 1, Table 1 and Fig. 3: number of clusters and NMI on eight data sets with ten synthetic experts.

Protocol (Chen et al. 2018, section 4.1): ten experts, each with a random split of the classes into positive, negative
and no label, 10 % of the labels flipped, a share of them observed; 5-fold cross-validation; NMI against the classes in
the training folds (clusters of the fitted items) and in the validation fold (prediction from the features). Features
are standardised on the training fold. A draw is a fold: of the items, the experts and the starts. NMI is published as
curves only, so there are no published values to print.

Methods run at their defaults. All but the model, DPGMM and Crowdclustering, which find the number of clusters, get the
number of classes. DPGMM is scikit-learn's Dirichlet-process mixture with diagonal covariances and at most 50
components. Competitors that read pairs get the pairs of the experts' groupings. Crowdclustering takes longest: it is
run on the smallest set, from one start. Where there are more features than items, MPCKMeans and MECC read principal
components, 95 % of the variance. KCC and Crowdclustering use no features: they have no validation fold, and in the
training folds the items that nobody labelled are a cluster of their own.

The part "mixtures" fits Dirichlet-process mixtures with other settings, to explain the published numbers of clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from benchmarks.experiments import Claim, Page, Part, Record
from benchmarks.papers.partition_label_parts.fits import (
    DPGMM,
    KMEANS,
    METHODS,
    MODEL,
    N_FOLDS,
    N_PAIRS,
    OF_PAIRS,
    OTHERS,
    PUBLISHED,
    SHARES,
    STEEL,
    TITLES,
    WHERE,
    cells_of_competitors,
    cells_of_experts,
    cells_of_features,
    cells_of_mixtures,
    cells_of_model,
    cells_of_times,
    compute_competitors,
    compute_experts,
    compute_features,
    compute_mixtures,
    compute_model,
)
from benchmarks.papers.partition_label_parts.tables import (
    comparisons,
    count,
    draw,
    is_near,
    results,
    table_of_clusters,
    table_of_mixtures,
    table_of_nmi,
    table_of_verdicts,
)


def places(rows: pd.DataFrame) -> str:
    """Return data sets and shares of labels in words, such as "iris at 10 and 30 %"."""
    shares = rows.groupby("data")["share"].agg(list)
    return "; ".join(
        f"{TITLES.get(name, name)} at {in_words(shares[name])}" for name in PUBLISHED if name in shares.index
    )


def in_words(shares: Sequence[float]) -> str:
    """Return shares of labels in words: three or more in a row as a range."""
    runs: list[list[float]] = []
    for share in SHARES:
        if share in shares:
            starts = not runs or SHARES.index(share) - SHARES.index(runs[-1][-1]) > 1
            runs += [[share]] if starts else []
            runs[-1] += [] if starts else [share]
    texts = []
    for run in runs:
        ends = [f"{100 * share:.0f}" for share in run]
        texts += [f"{ends[0]} to {ends[-1]}"] if len(ends) > 2 else ends
    return (" and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]) + " %"


def tables(record: Record) -> dict[str, str]:
    files = {
        "partition_labels.txt": [table_of_clusters(record), table_of_mixtures(record), table_of_verdicts(record)],
        "partition_labels_competitors.txt": [table_of_nmi(record, where) for where in WHERE],
    }
    return {name: "\n\n\n".join("\n".join(block) for block in blocks) + "\n" for name, blocks in files.items()}


def quotes(record: Record) -> dict[str, Any]:
    """Count what the sentences of the page quote."""
    found, rows = results(record), comparisons(record)
    model = [record.frame(part) for part in ("model", "model-steel")]
    experts = record.frame("experts").set_index(["data", "draw"])
    competitors = record.frame("competitors").groupby("model")["seconds"].mean()
    timed = record.frame("times").set_index("model")["seconds"]
    behind = rows[rows["verdict"] == "behind"]
    quoted = {
        "folds": N_FOLDS,
        "sets": len(PUBLISHED),
        "methods": {
            method: {where: summary(own[own["where"] == where]) for where in WHERE if (own["where"] == where).any()}
            for method in METHODS
            if not (own := rows[rows["method"] == method]).empty
        },
        "of_pairs": summary(rows[rows["method"].isin(OF_PAIRS) & (rows["where"] == "training")]),
        "margin": margin(rows[rows["method"].isin(OF_PAIRS) & (rows["where"] == "training") & (rows["share"] >= 0.5)]),
        "best": best(rows),
        "all": rows["where"].value_counts().to_dict(),
        "level": rows["where"][rows["verdict"] == "level"].value_counts().to_dict(),
        "lead": rows.groupby("where")["gap"].mean().to_dict(),
        "behind": len(behind),
        "behind_few": int((behind["share"] < 0.5).sum()),
        "seeds": quotes_of_seeds(found.loc["seeds"], experts.loc["seeds"]),
        "pie": found["validation"]["warpPIE10P"].groupby(level=["model", "share"]).mean()[:, 1.0].to_dict(),
        "drawn": f"{N_PAIRS:,}".replace(",", " "),
        "pairs": experts.loc[STEEL, "pairs"].max() / 1e6,
        "seconds": competitors.to_dict() | timed.add_prefix("one ").to_dict(),
        "not_converged": sum(int((~frame["converged"]).sum()) for frame in model),
        "fits": sum(map(len, model)),
    }
    return quoted | quotes_of_clusters(found) | quotes_of_mixtures(record, found["clusters"])


def margin(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the data sets where the model is ahead of all methods throughout, and its least lead with all labels."""
    by_data = rows.groupby("data")
    ahead = by_data["verdict"].agg(lambda verdicts: verdicts.eq("ahead").all())
    ahead &= by_data["method"].nunique() == len(OF_PAIRS)
    names = [name for name in PUBLISHED if ahead.get(name, False)]
    leads = rows[rows["data"].isin(names) & (rows["share"] == 1.0)]["gap"]
    return {"sets": [TITLES.get(name, name) for name in names], "least": leads.min()}


def quotes_of_mixtures(record: Record, clusters: pd.Series) -> dict[str, Any]:
    """Compare numbers of clusters of DPGMM, with 50 and with 20 components, with the published ones."""
    own = record.frame("mixtures").pivot_table("clusters", ["data", "draw"], "model")
    own["50"] = clusters[:, DPGMM, SHARES[0]]
    own["20"] = own["at most 20 components"]
    means = own.groupby("data").mean()
    published = pd.Series({name: dpgmm for name, (_, dpgmm, _) in PUBLISHED.items()})
    off = means.sub(published, axis=0).abs().drop(STEEL).mean()
    alone = own.eq(1).groupby("data").sum()
    model = clusters[STEEL, MODEL].groupby(level="share").mean()[0.5:]
    return {
        "dpgmm": {name: own.loc[name, "50"].astype(int).tolist() for name in PUBLISHED},
        "dpgmm_off": off.to_dict(),
        "collapsed": alone.to_dict(),
        "steel": {
            "published": published[STEEL],
            "least": means.loc[STEEL].min(),
            "most": means.loc[STEEL].max(),
            "model_least": model.min(),
            "model_most": model.max(),
        },
    }


def best(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return at how many data sets and shares no other method is ahead of the model."""
    behind = rows["verdict"].eq("behind").groupby([rows["where"], rows["data"], rows["share"]]).any()
    return {where: {"of": len(own), "nobody_ahead": int((~own).sum())} for where, own in behind.groupby(level=0)}


def quotes_of_seeds(found: pd.DataFrame, experts: pd.DataFrame) -> dict[str, Any]:
    """Compare the model where all experts label two classes alike, and elsewhere, with all labels."""
    alike = experts["alike"].map(bool)
    own, peer = found.loc[MODEL, 1.0], found.loc[KMEANS, 1.0]
    return {
        "draws": int(alike.sum()),
        "pairs": sorted({tuple(pair) for pairs in experts["alike"] for pair in pairs}),
        "clusters": sorted({int(number) for number in own["clusters"][alike]}),
        "clusters_elsewhere": sorted({int(number) for number in own["clusters"][~alike]}),
        "nmi": own["validation"][alike].mean(),
        "nmi_elsewhere": own["validation"][~alike].mean(),
        "kmeans_elsewhere": peer["validation"][~alike].mean(),
    }


def summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return how often the model is ahead, level and behind, where it is ahead and behind, and the same for 10 %."""
    ahead, level, behind = count(rows["verdict"])
    few = dict(zip(("ahead", "level", "behind"), count(rows["verdict"][rows["share"] == SHARES[0]])))
    return {
        "ahead": ahead,
        "level": level,
        "behind": behind,
        "all": len(rows),
        "ahead_at": places(rows[rows["verdict"] == "ahead"]),
        "behind_at": places(rows[rows["verdict"] == "behind"]),
        "few": few,
    }


def quotes_of_clusters(found: pd.DataFrame) -> dict[str, Any]:
    """Count the means near the published ones, and those nearer to the number of classes than these."""
    means = found["clusters"].groupby(level=["data", "model", "share"]).mean()
    rows = pd.DataFrame(
        [
            (name, share, is_near(own := means[name, MODEL, share], *there), abs(own - n) < abs(there[0] - n))
            for name, (n, _, published) in PUBLISHED.items()
            for share, there in zip(SHARES, published)
        ],
        columns=["data", "share", "near", "nearer"],
    )
    many = rows["share"] >= 0.5
    return {
        "near": int(rows["near"][many].sum()),
        "means": int(many.sum()),
        "far": [TITLES.get(name, name) for name in rows["data"][many & ~rows["near"]].unique()],
        "far_at": places(rows[many & ~rows["near"]]),
        "near_few": int(rows["near"][~many].sum()),
        "means_few": int((~many).sum()),
        "far_few_at": places(rows[~many & ~rows["near"]]),
        "nearer": rows["data"][rows["nearer"] & (rows["share"] == 1.0)]
        .map(lambda name: TITLES.get(name, name))
        .tolist(),
    }


def claims(record: Record) -> list[Claim]:
    """Compare with the paper's Table 1, and with what it says of Fig. 3."""
    found, rows = quotes_of_clusters(results(record)), comparisons(record)
    near = f"{found['near']} of {found['means']}"
    listed = [
        Claim(
            "number of clusters from 50 % of the labels on, within one standard deviation + 1",
            f"{found['means']} means",
            near,
            "met" if found["near"] == found["means"] else f"missed: outside on {', '.join(found['far'])}",
        )
    ]
    few, of_pairs = (rows["method"] == "KCC") & (rows["share"] == SHARES[0]), rows["method"].isin(OF_PAIRS)
    for text, own in (
        ("better than KCC if few labels are observed (10 %), training folds", rows[few]),
        ("better than every method of pairs, training folds", rows[of_pairs & (rows["where"] == "training")]),
        ("better than every method of pairs, validation folds", rows[of_pairs & (rows["where"] == "validation")]),
    ):
        ahead, level, behind = count(own["verdict"])
        ours = f"ahead in {ahead}, level in {level}, behind in {behind} of {len(own)} comparisons"
        most = own["method"][own["verdict"] == "behind"].mode()
        missed = f"missed: behind, mostly {most[0]}" if behind else "missed: mostly level"
        listed.append(Claim(text, "curves", ours, "met" if not behind and ahead > level else missed))
    return listed


PAGE = Page(
    "partition_labels",
    parts=(
        Part("experts", cells_of_experts, compute_experts),
        Part("features", cells_of_features, compute_features),
        Part("mixtures", cells_of_mixtures, compute_mixtures),
        Part("model", partial(cells_of_model, "model", OTHERS), compute_model),
        Part("competitors", partial(cells_of_competitors, "competitors", OTHERS), compute_competitors),
        Part("model-steel", partial(cells_of_model, "model-steel", (STEEL,)), compute_model),
        Part("competitors-steel", partial(cells_of_competitors, "competitors-steel", (STEEL,)), compute_competitors),
        Part("times", cells_of_times, compute_competitors),
    ),
    tables=tables,
    quotes=quotes,
    claims=claims,
    plots={"partition_labels_nmi.svg": draw},
)
