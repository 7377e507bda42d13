"""Paper 3, Figs. 1 to 5: fusion of subset groupings and active composition, with peers and on recorded groupings.

Protocol (Veeramachaneni & O'Reilly, section 6): Gaussian data of 8 features, 10 clusters, no two closer than τ (σi +
σj)/2; agents that cluster a subset on some of the features (`ClusteringPopulation`: k-means or Ward, 3 to 6 groups for
subsets of 8, 5 to 10 for 50, on 4 to 8 features, a new agent for every answer). Case 1: 100 items, subsets of 8. Case
2: 1000 items, 100 subsets of 50. All methods get the number of clusters; results are NMI with the truth.

fusions     NMI of every fusion and peer on the same groupings, simulated and recorded
ensembles   settings of KCC and CSPA, for their pages
strategies  Figs. 2 and 4: NMI and stability as case 1 grows, and the subsets needed for a level
replay      strategies that choose among recorded subsets, with the recorded answers
difficulty  Fig. 1: dynamic, static and complete presentation over τ, 500 subsets of case 1
large       Figs. 3 and 4: case 2
rates       Fig. 5: 1, 2, 4 or 8 subsets between updates, case 2
batches     case 1, one or eight subsets a call, and random subsets up to 512

"knowing the clusters" composes subsets of two items from each of four clusters, by the truth, which no strategy
knows. The parts are in `subset_parts`.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Claim, Page, Part, Record
from benchmarks.experiments.page import before_comma, dec
from benchmarks.experiments.statistics import Difference
from benchmarks.papers.subset_parts import batches, difficulty, fusions, replay, strategies
from benchmarks.papers.subset_parts.setting import EXPLOIT, against


def tables(record: Record) -> dict[str, str]:
    blocks = [
        fusions.table_of_fusions(record),
        fusions.table_of_leads(record),
        strategies.table_of_strategies(record),
        batches.table_of_batches(record),
        difficulty.table_of_difficulty(record),
        strategies.table_of_large(record),
        strategies.table_of_rates(record),
        replay.table_of_replay(record),
    ]
    return {
        "subset_groupings.txt": "\n\n\n".join("\n".join(block) for block in blocks) + "\n",
        "subset_groupings_kcc.txt": "\n".join(fusions.table_of_kcc(record)) + "\n",
        "subset_groupings_cspa.txt": "\n".join(fusions.table_of_cspa(record)) + "\n",
    }


def quotes(record: Record) -> dict[str, Any]:
    """Return what the sentences of the page quote."""
    found = counts(record)
    return found | {"claims": claims_from(found)}


def claims(record: Record) -> list[Claim]:
    return claims_from(counts(record))


def counts(record: Record) -> dict[str, Any]:
    """Count what the sentences and the claims are made from."""
    return {
        "fusions": fusions.quotes_of_fusions(record),
        "strategies": strategies.quotes_of_strategies(record),
        "batches": batches.quotes_of_batches(record),
        "difficulty": difficulty.quotes_of_difficulty(record),
        "large": strategies.quotes_of_large(record),
        "rates": strategies.quotes_of_rates(record),
        "replay": replay.quotes_of_replay(record),
    }


def claims_from(counts: dict[str, Any]) -> list[Claim]:
    """Compare with what the text of the paper says of Figs. 1 to 5."""
    over_tau, case_1, case_2, rates = (counts[name] for name in ("difficulty", "strategies", "large", "rates"))
    paper, means = over_tau["papers"], over_tau["papers"]["mean"]
    hard, mixed = paper["hard"][EXPLOIT], case_1["all"]["explore-exploit"]
    leads = [gap for tau in (2, 5) for gap in case_2[f"tau{tau}"]["exploit"].values()]
    stable, erratic = case_1["stability"], {tau: case_2[f"tau{tau}"]["stability"][EXPLOIT] for tau in (2, 5)}
    low = [tau for tau, found in stable.items() if found[EXPLOIT] < 0.895]
    one, eight = ({fusion: found[rate] for fusion, found in rates["hard"].items()} for rate in (1, 8))
    ends = [case_2[f"tau{tau}"]["ends"]["explore"] for tau in (2, 5)]
    return [
        Claim(
            "random subsets do badly even in an easy task (Fig. 1)", "a curve",
            f"τ = 20, the paper's fusion: {dec(means[20]['random'])}, all items at once {dec(means[20]['complete'])}",
            met(means[20]["random"] < 0.5),
        ),
        Claim(
            "adaptive subsets are better than all items at once in a hard task, τ = 1 (Fig. 1)", "a curve",
            f"Exploit-Pairwise less all at once, the paper's fusion: {written(hard)}", met(hard.verdict == "above"),
        ),
        Claim(
            "Exploit-Pairwise is better than random subsets (Figs. 1 and 2)", "in all cases",
            f"after 500 subsets, the paper's fusion: above at {paper[EXPLOIT]['above']} of {over_tau['taus']} τ, "
            f"level at {paper[EXPLOIT]['level']}", met(paper[EXPLOIT]["above"] == over_tau["taus"]),
        ),
        Claim(
            "Explore-Exploit is slightly better than random subsets (Fig. 2)", "curves",
            f"fewer subsets at {mixed['below']} of {case_1['levels']} levels of NMI, as many at {mixed['level']}",
            met(mixed["below"] > case_1["levels"] / 2),
        ),
        Claim(
            "Exploit-Pairwise is better than the other strategies in case 2 (Fig. 3)", "curves",
            f"after 100 subsets: above {case_2['exploit']['above']} of {case_2['exploit']['all']}, level with "
            f"{case_2['exploit']['level']}; {written(min(leads, key=mean_of))} to {written(max(leads, key=mean_of))}",
            met(case_2["exploit"]["above"] == case_2["exploit"]["all"]),
        ),
        Claim(
            "stability rises to a plateau in case 1 (Fig. 4)", ".9",
            "Exploit-Pairwise at the end: " + by_tau({tau: found[EXPLOIT] for tau, found in stable.items()}),
            met(not low, ", ".join(f"not after {strategies.SUBSETS[tau]} subsets at τ = {tau}" for tau in low)),
        ),
        Claim(
            "stability is much lower in case 2 (Fig. 4)", "a curve", f"Exploit-Pairwise at the end: {by_tau(erratic)}",
            met(all(erratic[tau] < stable[tau][EXPLOIT] - 0.1 for tau in erratic)),
        ),
        Claim(
            "Exploit-Pairwise in case 2 at τ = 1, a subset at a time (Fig. 5)", ".45",
            f"{dec(one['nmi'])} with our fusion, {dec(one['papers'])} with the paper's; no strategy exceeds "
            f"{dec(rates['most'])} in any draw", met(max(one.values()) >= 0.445, "the paper names no normalisation"),
        ),
        Claim(
            "the same with eight at once (Fig. 5)", "about .1",
            f"{dec(eight['nmi'])} with our fusion, {dec(eight['papers'])} with the paper's",
            met(0.05 <= eight["nmi"] <= 0.15),
        ),
        Claim(
            "Explore is the worst (Fig. 5)", "curves",
            f"less random after 100 subsets: {written(ends[0])} at τ = 2, {written(ends[1])} at τ = 5",
            met(all(gap.verdict == "below" for gap in ends)),
        ),
    ]  # fmt: skip


def met(is_met: bool, reason: str = "") -> str:
    return "met" if is_met else f"missed: {reason}" if reason else "missed"


def written(gap: Difference) -> str:
    """Return a difference with its standard error."""
    return against(gap).rstrip(" *")


def mean_of(gap: Difference) -> float:
    return gap.mean


def by_tau(found: dict[int, float]) -> str:
    return ", ".join(f"{dec(value, 2)} at τ = {tau}" for tau, value in found.items())


def without_numbers(data: str) -> str:
    """Return what simulated data sets have in common, such as ``tau 2`` and ``tau 5``."""
    return data.split()[0]


PAGE = Page(
    "subset_groupings",
    (
        Part("fusions", fusions.cells_of_fusions, fusions.compute_fusions, alike=before_comma),
        Part("ensembles", fusions.cells_of_ensembles, fusions.compute_ensembles),
        Part("strategies", strategies.cells_of_strategies, strategies.compute_curve, alike=without_numbers),
        Part("batches", batches.cells_of_batches, strategies.compute_curve, alike=without_numbers),
        Part("replay", replay.cells_of_replay, replay.compute_replay),
        Part("difficulty", difficulty.cells_of_difficulty, difficulty.compute_difficulty, has_sentinel=False),
        Part("large", strategies.cells_of_large, strategies.compute_curve, alike=without_numbers),
        Part("rates", strategies.cells_of_rates, strategies.compute_rates, alike=without_numbers),
    ),
    tables,
    quotes,
    claims=claims,
    plots={
        "subset_groupings_difficulty.svg": difficulty.draw_difficulty,
        "subset_groupings_strategies.svg": strategies.draw_strategies,
        "subset_groupings_large.svg": strategies.draw_large,
        "subset_groupings_rates.svg": strategies.draw_rates,
        "subset_groupings_replay.svg": replay.draw_replay,
    },
)
