"""What a job is asked for, and what its result has in any case. Nothing here imports NumPy.

A request holds what the options of a command say. Paths may be text; annotations may also be a DataFrame, or Groupings,
Labels or Pairs, and features and scores a DataFrame; `reading` holds keywords of `consilience.read_annotations`; no
file that is read is ever written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from consilience.workflows.sources import source_of

if TYPE_CHECKING:
    from consilience.annotations import Groupings, Labels, Pairs
    from consilience.annotations.types import FrameLike

    FilePath: TypeAlias = Path
    Source: TypeAlias = Path | str | FrameLike | Groupings | Labels | Pairs
    Table: TypeAlias = Any  # a path, or a frame that becomes a `TableAtHand`
else:  # text becomes a path
    FilePath = Source = Table = Any
PATHS = ("FilePath", "Source", "Table")

ALL_COLUMNS = "all"
CERTAINTY_DRAWS = 100
NumberOfClusters = int | Literal["auto"]


class Request:
    """Turns the paths of a request that are text into paths, and names its frames for messages."""

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            if isinstance(value, str) and str(entry.type).startswith(PATHS):
                object.__setattr__(self, entry.name, Path(value))
            elif value is not None and str(entry.type).startswith("Table"):
                object.__setattr__(self, entry.name, source_of(value, f"the table of {entry.name}"))


@dataclass(frozen=True)
class FeatureOptions:
    """How a table of features is read.

    Attributes
    ----------
    feature_item : str or None
        The column that names the items; None to find it.
    categorical : tuple of str
        Text columns that become indicator columns, as the user wrote them; "all" for every text column.
    impute : {"median", "mean", "most_frequent"} or None
        Replacement of a missing number; missing text becomes the most frequent value. None to refuse missing values.
    besides : tuple of str
        Columns that are no features.
    """

    feature_item: str | None = None
    categorical: tuple[str, ...] = ()
    impute: str | None = None
    besides: tuple[str, ...] = ()


@dataclass(frozen=True)
class CardSortOptions(Request):
    """People to leave out, by name or by answers in a table; corrections of names, times, and the groups given."""

    leave_out: Sequence[str] = ()
    people: FilePath | None = None
    where: Sequence[str] = ()
    names: FilePath | None = None
    seconds: FilePath | None = None
    given_groups: Sequence[str] = ()

    @property
    def paths(self) -> list[Path]:
        """The files, which must not be overwritten."""
        return [path for path in (self.people, self.names, self.seconds) if path is not None]


@dataclass(frozen=True, kw_only=True)
class ReportedRequest(Request):
    """What is shown of a fit, whether it is new or saved; see `FitRequest`."""

    annotations: Source
    reading: Mapping[str, Any] = field(default_factory=dict)
    features: Table | None = None
    feature_options: FeatureOptions = FeatureOptions()
    scores: Table | None = None
    given_labels: str | None = None
    pictures: str | None = None
    ratings: Table | None = None
    napping: Table | None = None
    item_names: Table | None = None
    card_sort: CardSortOptions = CardSortOptions()
    certainty_draws: int = CERTAINTY_DRAWS
    words: str | None = None

    @property
    def paths(self) -> list[Any]:
        """The files, which must not be overwritten, and None or annotations where there is no file."""
        tables = (self.features, self.scores, self.ratings, self.napping, self.item_names)
        return [self.annotations, *tables, *self.card_sort.paths]


@dataclass(frozen=True, kw_only=True)
class FitRequest(ReportedRequest):
    """What to fit, how, and where to write the results.

    Attributes
    ----------
    annotations : Path, DataFrame, Groupings, Labels or Pairs
        The annotations, or their file; "-" is standard input.
    reading : dict
        How the file is read, as keywords of `consilience.read_annotations`.
    features : Path, DataFrame or None
        Table of features, one row per item.
    feature_options : FeatureOptions
        How it is read.
    scores : Path, DataFrame or None
        Table of external scores to test against the clusters.
    given_labels : str or None
        Labels that came with the items, to be checked: a file, or a column of the table of features.
    pictures : str or None
        Pictures of the items: a folder, a file, or a column of the table of features.
    ratings : Path, DataFrame or None
        Table of ratings of the items on one or more scales: a row for each item and annotator, or for each item.
    napping : Path, DataFrame or None
        Table of the places of the items on the sheet of each annotator.
    item_names : Path, DataFrame or None
        Table of ids and texts, and perhaps pictures, of items that the annotations only number.
    card_sort : CardSortOptions
        People to leave out, corrections of names, and how long people took.
    certainty_draws : int
        Number of times that the fit is repeated as if another group of people had been asked; 0 for none.
    words : str or None
        What items and annotators are called, such as "cards,participants"; None for what the columns are called.
    model : str or None
        Name of an estimator; "auto" for the one that `compare` ranks first; None to choose by the annotations.
    clusters : int, "auto" or None
        Number of clusters, for models that take it; None for the default of the model.
    settings : dict
        Parameters of the model.
    gold : Path or None
        Table of items and their known classes, for models that can use it.
    history : Path or None
        The counts.csv of an earlier fit, for models that can use it.
    standardize : bool
        Whether features are scaled to variance 1.
    out : Path
        Folder to write to. An earlier fit in it is replaced as a whole; other files in it stay.
    """

    model: str | None = None
    clusters: NumberOfClusters | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    gold: FilePath | None = None
    history: FilePath | None = None
    standardize: bool = True
    out: FilePath = Path("consilience-report")

    @property
    def known(self) -> dict[str, Path | None]:
        """Files of further arguments of ``fit``, by argument."""
        return {"gold": self.gold, "history": self.history}

    @property
    def paths(self) -> list[Any]:
        """The files, which must not be overwritten, and None or annotations where there is no file."""
        return [*super().paths, *self.known.values()]


@dataclass(frozen=True, kw_only=True)
class ReportRequest(ReportedRequest):
    """What to write the report of a saved model from.

    Attributes
    ----------
    saved : Path
        The model.zip of a fit.
    annotations, reading, features, feature_options, scores, given_labels, pictures, ratings, napping, item_names, \
    card_sort, certainty_draws, words
        As in `FitRequest`; the annotations and features are those of the fit.
    short : bool
        Whether to write the short form, at most two printed pages.
    out : Path
        HTML file to write.
    """

    saved: FilePath
    short: bool = False
    out: FilePath = Path("report.html")


@dataclass(frozen=True, kw_only=True)
class PredictionRequest(Request):
    """Of which items to predict the cluster or class, with which saved model.

    Attributes
    ----------
    saved : Path
        The model.zip of a fit.
    table : Path, DataFrame or Labels
        Features, or, for a model of labels, new labels by the annotators that it was fitted to; or their file.
    proba : bool
        Whether to add the probability of every cluster or class.
    feature_item : str or None
        The column of features that names the items; None to find it.
    reading : dict
        How labels are read, as keywords of `consilience.read_annotations`.
    item_names : Path, DataFrame or None
        As in `FitRequest`.
    out : Path or None
        CSV, TSV, Parquet or JSON file to write, if any.
    """

    saved: FilePath
    table: Source
    proba: bool = False
    feature_item: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    item_names: Table | None = None
    out: FilePath | None = None


@dataclass(frozen=True, kw_only=True)
class ComparisonRequest(Request):
    """Which models to compare, on what.

    Attributes
    ----------
    annotations, reading, features, feature_options, standardize, words : as in `FitRequest`
    models : sequence of str or None
        Names of the models; None for all that can be fitted.
    settings : dict
        Parameters of models, by "Model.parameter".
    clusters : (int, int) or None
        Lowest and highest number of clusters to try.
    by : {"clusters", "model", "forecast"}
        What predicts a judgement.
    folds : int
        Number of fits of each model.
    level : {"auto", "groupings", "judgements"}
        What is held out.
    max_pairs : int
        Largest number of judgements to predict.
    seed : int
    out : Path or None
        CSV, TSV, Parquet or JSON file for the table, if any.
    """

    annotations: Source
    reading: Mapping[str, Any] = field(default_factory=dict)
    features: Table | None = None
    feature_options: FeatureOptions = FeatureOptions()
    models: Sequence[str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    clusters: tuple[int, int] | None = None
    by: str = "clusters"
    folds: int = 5
    level: str = "auto"
    max_pairs: int = 20_000
    standardize: bool = True
    words: str | None = None
    seed: int = 0
    out: FilePath | None = None


@dataclass(frozen=True, kw_only=True)
class PlanRequest(Request):
    """Which study of groupings to plan: by the groupings of the first people, or as it is imagined.

    Attributes
    ----------
    pilot : Path, DataFrame, Groupings or None
        The groupings by the first people, or their file; "-" is standard input.
    reading : dict
        How the file is read, as keywords of `consilience.read_annotations`.
    n_items, n_clusters, agreement : number or None
        What is imagined without a pilot; see `consilience.active.plan`.
    subset_size : int or None
        Items that are sorted at a time; None for all, or as many as in the pilot.
    subsets_each : int
        Subsets that a person sorts.
    target : float
        Agreement with the clusters of a second study by other people.
    max_annotators : int
        Largest number of people to try.
    draws : int
        Simulations of each number.
    words : as in `FitRequest`
    seed : int
    out, plot : Path or None
        Files for the table and for the curve, if any.
    """

    pilot: Source | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    n_items: int | None = None
    n_clusters: int | None = None
    agreement: float | None = None
    subset_size: int | None = None
    subsets_each: int = 1
    target: float = 0.8
    max_annotators: int = 300
    draws: int = 10
    words: str | None = None
    seed: int = 0
    out: FilePath | None = None
    plot: FilePath | None = None


@dataclass(frozen=True, kw_only=True)
class AskRequest(Request):
    """Which labels there are so far, and how many to ask for; see `consilience.active.LabelSession`.

    Attributes
    ----------
    annotations : Path, DataFrame or Labels
        The labels so far, or their file; "-" is standard input.
    reading : dict
        How the file is read, as keywords of `consilience.read_annotations`.
    all_items : Path or None
        Table with a column of all items; None for those that have labels.
    n_labels : int
        How many labels to ask for.
    whom : sequence of str
        Annotators who are at hand, each with the cost of a label, as in "Bo=2.5", or without; none for nobody in
        particular.
    most_each : int or None
        Most questions to one annotator.
    max_per_item : int or None
        Most questions about an item, labels so far among them.
    random_share : float
        Share of the questions that are drawn at random.
    target : float
        Share of the items whose class may be wrong.
    floor : float
        Number of items that the next hundred labels are to put right.
    seed : int
    out : Path or None
        File for the questions, if any.
    """

    annotations: Source
    reading: Mapping[str, Any] = field(default_factory=dict)
    all_items: FilePath | None = None
    n_labels: int = 20
    whom: Sequence[str] = ()
    most_each: int | None = None
    max_per_item: int | None = None
    random_share: float = 0.1
    target: float = 0.05
    floor: float = 1.0
    seed: int = 0
    out: FilePath | None = None


@dataclass(frozen=True, kw_only=True)
class DifferenceRequest(Request):
    """Which two studies of the same items to compare.

    Attributes
    ----------
    first, second : Path, DataFrame, Groupings or Labels
        Groupings or labels, or their files; "-" is standard input. None for the second if `by` divides the first.
    reading : dict
        How both files are read, as keywords of `consilience.read_annotations`.
    people : Path or None
        Table of annotators with a column for each answer, if two segments of one study are compared.
    by : str or None
        The segments: ``device=phone,desktop`` for two answers, ``device=phone`` for one and all others, ``device`` if
        there are two.
    item_names : Path, DataFrame or None
        As in `FitRequest`, for both studies.
    names : sequence of str or None
        What to call the studies; None for the names of the files.
    same_people : bool
        Whether annotators of the same name are the same people.
    clusters : int, "auto" or None
        Number of clusters.
    permutations : int
        Number of times that people are exchanged between the studies at random.
    certainty_draws : int
        Number of times that the clusters of each study are found again; 0 for none.
    words : as in `FitRequest`
    seed : int
    out : Path
        Folder to write to. An earlier result in it is replaced as a whole; other files in it stay.
    """

    first: Source
    second: Source | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    people: FilePath | None = None
    by: str | None = None
    item_names: Table | None = None
    names: Sequence[str] | None = None
    same_people: bool = False
    clusters: NumberOfClusters | None = None
    permutations: int = 999
    certainty_draws: int = CERTAINTY_DRAWS
    words: str | None = None
    seed: int = 0
    out: FilePath = Path("consilience-difference")


@dataclass(frozen=True, kw_only=True)
class PartitionsRequest(Request):
    """Which model to fit to a table that need not fit in memory.

    Attributes
    ----------
    table : Path
        Folder of Parquet files, each of which is a partition.
    model : str
    settings : dict
        Parameters of the model.
    features, annotators : sequence of str or None
        Columns of features and of labels, for models of items with features.
    reading : dict
        Names of the columns "item", "annotator" and "label", and the values that are "missing".
    jobs, workers : int or None
        Number of threads, or of processes of a Dask cluster that is started.
    scheduler : str or None
        Address of a Dask cluster that runs.
    checkpoint : Path or None
        File to keep the last finished sweep in.
    out : Path
        Folder to write to. An earlier fit in it is replaced as a whole; other files in it stay.
    """

    table: FilePath
    model: str = "DawidSkene"
    settings: Mapping[str, Any] = field(default_factory=dict)
    features: Sequence[str] | None = None
    annotators: Sequence[str] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    jobs: int | None = None
    workers: int | None = None
    scheduler: str | None = None
    checkpoint: FilePath | None = None
    out: FilePath = Path("consilience-report")


@dataclass(frozen=True, kw_only=True)
class SiteSummaryRequest(Request):
    """Which table of a site to summarise, and how much of it to disclose; see `consilience.sites.summarise_site`.

    Attributes
    ----------
    table : Path
        Table of features, which stays where it is.
    name : str
        Name of the site, as others will see it.
    out : Path
        JSON file to write.
    feature_options : FeatureOptions
        How the table is read.
    groups : int, sequence of int, or "auto"
        Numbers of groups.
    groups_from : str or None
        Column of groups to send in place of those of k-means.
    only : Path or None
        Text file of the items to name, one in each line.
    min_group_size : int
        Smaller groups join the nearest one.
    epsilon : float or None
        Privacy of each item's group; None for no noise.
    key_file : Path or None
        File of the secret with which names are hashed.
    seed : int or None
    """

    table: FilePath
    name: str
    out: FilePath
    feature_options: FeatureOptions = FeatureOptions()
    groups: int | Sequence[int] | Literal["auto"] = "auto"
    groups_from: str | None = None
    only: FilePath | None = None
    min_group_size: int = 5
    epsilon: float | None = None
    key_file: FilePath | None = None
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class SiteFusionRequest(Request):
    """Of which sites' summaries to make one clustering; see `consilience.sites.fuse_sites`.

    Attributes
    ----------
    summaries : sequence of Path
        Files that `summarise_site` wrote.
    clusters : int, "auto" or None
        Number of clusters.
    key_file, items : Path or None
        The sites' secret, and a text file of names, to name items in place of their hashes.
    keep_all : bool
        Whether to keep sites whose groups have nothing to do with those of any other.
    seed : int
    out : Path
        Folder to write to. An earlier result in it is replaced as a whole; other files in it stay.
    """

    summaries: Sequence[Path]
    clusters: NumberOfClusters | None = None
    key_file: FilePath | None = None
    items: FilePath | None = None
    keep_all: bool = False
    seed: int = 0
    out: FilePath = Path("consilience-sites")


@dataclass(frozen=True)
class Result:
    """What a job found, for machines and for people.

    Attributes
    ----------
    summary : dict
        Plain values, as the command prints them with ``--json``.
    text : str
        What the command prints without.
    """

    summary: dict[str, Any]
    text: str

    def __str__(self) -> str:
        return self.text
