"""``consilience site``: its commands, their options and help; the work is in `consilience.workflows.sites`.

Nothing here imports NumPy or a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from consilience.cli.messages import say, say_result
from consilience.cli.option_types import FILE, Real, WholeNumber, cut, whole
from consilience.cli.options import clusters_option, example, folder_option, json_option, reading_features, seed_option
from consilience.cli.program import Program, show_help


class GroupNumbers(click.ParamType):
    """Numbers separated by commas, or "auto"."""

    name = "NUMBER[,NUMBER…]|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a list of int, or "auto"."""
        if not isinstance(value, str) or value.strip().casefold() == "auto":
            return "auto" if isinstance(value, str) else value
        numbers = [whole(part) for part in value.split(",")]
        if None in numbers:
            self.fail(f"{cut(value)} is neither 'auto' nor numbers separated by commas.", param, ctx)
        return numbers


@click.group(
    cls=Program,
    short_help="Cluster across sites whose data may not move.",
    epilog=example(
        "consilience site summarise patients.csv --site Utrecht --out utrecht.json",
        "consilience site show utrecht.json",
        "consilience site fuse utrecht.json leiden.json delft.json --out study",
    ),
)
def site() -> None:
    """Cluster across sites whose data may not move.

    Each site clusters its own table and sends a small file that says which of its items belong together, and nothing
    else of the table. One clustering of all items is made of these files. Sites need some items in common; the columns
    of their tables may differ.
    """
    show_help()


@site.command(
    short_help="Write which items of a table belong together.",
    epilog=example(
        "consilience site summarise patients.csv --site Utrecht --out utrecht.json",
        "consilience site summarise patients.csv --site Utrecht --only agreed.txt --key-file key --out utrecht.json",
        "consilience site summarise patients.csv --site Utrecht --groups 8 --epsilon 6 --out utrecht.json",
    ),
)
@click.argument("table", type=FILE)
@click.option("--site", "name", required=True, metavar="NAME", help="Name of the site, as others will see it.")
@reading_features
@click.option(
    "--groups",
    type=GroupNumbers(),
    metavar="NUMBER[,NUMBER…]|auto",
    default="auto",
    show_default=True,
    help="Number of groups; several make several groupings. auto: the number with the largest silhouette and, without "
    "--epsilon, a finer grouping.",
)
@click.option(
    "--groups-from",
    metavar="COL",
    help="Send the groups in this column of TABLE, by a clusterer of your own, in place of k-means.",
)
@click.option(
    "--only",
    type=FILE,
    metavar="FILE",
    help="Text file with a name in each line: name no other items, though all are clustered.",
)
@click.option(
    "--min-group-size", type=WholeNumber(1), default=5, show_default=True, help="Smaller groups join the nearest one."
)
@click.option(
    "--epsilon",
    type=Real(1e-6, 100),
    metavar="NUMBER",
    help="Add noise: local differential privacy of each item's group as it was found. 8 is little noise, 2 much.",
)
@click.option(
    "--key-file",
    type=FILE,
    metavar="FILE",
    help="File with a secret that the sites share, of at least 16 bytes: names are replaced by keyed hashes.",
)
@click.option("-o", "--out", type=FILE, metavar="FILE", required=True, help="JSON file to write.")
@seed_option
def summarise(**asked: Any) -> None:
    """Cluster TABLE where it is, and write which of its items belong together to a small file.

    TABLE has a row for each item: a column of names, by which sites find what they share, and columns of numbers, which
    are scaled to variance 1 and never leave the site. What the file discloses is printed, and stands in it.
    """
    from consilience.workflows import SiteSummaryRequest, summarise_site

    say(summarise_site(SiteSummaryRequest(**asked)).text)


@site.command(
    short_help="Say what the summary of a site discloses.", epilog=example("consilience site show utrecht.json")
)
@click.argument("summary", type=FILE)
@json_option
def show(summary: Path, as_json: bool) -> None:
    """Say what SUMMARY, a file of 'site summarise', discloses: worked out from its contents, not from what it says."""
    from consilience.workflows import show_site

    say_result(show_site(summary), as_json=as_json)


@site.command(
    short_help="Make one clustering from the summaries of sites.",
    epilog=example(
        "consilience site fuse utrecht.json leiden.json delft.json --out study",
        "consilience site fuse utrecht.json leiden.json --clusters 4 --key-file key --items items.txt",
    ),
)
@click.argument("summaries", type=FILE, nargs=-1, required=True)
@clusters_option
@click.option(
    "--key-file",
    type=FILE,
    metavar="FILE",
    help="The sites' secret, to name the items of --items in the result in place of their hashes.",
)
@click.option(
    "--items",
    type=FILE,
    metavar="FILE",
    help="Text file with a name in each line, those that you know; with --key-file.",
)
@click.option(
    "--keep-all",
    is_flag=True,
    help="Also keep sites whose groups have nothing to do with those of any other.  [default: leave them out]",
)
@folder_option("consilience-sites")
@seed_option
@json_option
def fuse(*, seed: int | None, as_json: bool, **asked: Any) -> None:
    """Make one clustering of all items from SUMMARIES, files that 'site summarise' wrote at two or more sites.

    The folder then holds clusters.csv (item, cluster, probability, and how many sites have the item), sites.csv (what
    each site sent, how far it agrees with the clusters, and its weight), groupings.csv (what the sites said, as any
    other command reads it), report.html and summary.json.
    """
    from consilience.workflows import SiteFusionRequest, fuse_sites

    say_result(fuse_sites(SiteFusionRequest(seed=seed or 0, **asked)), as_json=as_json)
