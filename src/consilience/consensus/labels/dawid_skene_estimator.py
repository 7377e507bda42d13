"""DawidSkene: the estimator of `consilience.consensus.labels.dawid_skene`. Dawid & Skene (1979)."""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax

from consilience.annotations import Labels
from consilience.annotations.canonical import arrange
from consilience.annotations.fit_arguments import require_no_second
from consilience.annotations.names import MISSING, outside
from consilience.annotations.types import (
    AnnotationsLike,
    Flag,
    FrameLike,
    Gold,
    Integer,
    Literal,
    Missing,
    NameGroups,
    NumberOfClusters,
    Real,
    Self,
)
from consilience.consensus.labels.accuracy_interval import (
    accuracy_interval,
    add_interval,
    doubted_labels,
    sum_right,
    widen_interval,
)
from consilience.consensus.labels.annotator_models import NO_PULL, Counts, Hierarchical, Pull, of_newcomer
from consilience.consensus.labels.calibration import (
    ASSUMED,
    INDEPENDENT,
    RECORDED,
    Calibration,
    Floors,
    calibration,
    no_calibration,
)
from consilience.consensus.labels.choice_of_prior import (
    PULL,
    PULL_OF_ONE,
    are_too_few,
    can_tell,
    correlate_with_others,
    has_collapsed,
    note_on_few,
    prior_of_classes,
)
from consilience.consensus.labels.constant_annotators import (
    CountsOfAll,
    as_constant,
    constant_here_and_before,
    count_labels,
    counts_of,
    sparse_constant,
    sparse_counts,
    warn_of_constant,
    without,
)
from consilience.consensus.labels.copies import one_label_of_each
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.consensus.labels.dawid_skene import (
    DawidSkeneEvidence,
    DawidSkeneState,
    columns_of,
    first_guess,
    labels_of,
    run,
)
from consilience.consensus.labels.gold_calibration import GoldItems, calibrate_by_gold, note_contradictions
from consilience.consensus.labels.pairs_of_labels import PairSums
from consilience.consensus.labels.prior_knowledge import history_counts, with_classes_of
from consilience.consensus.labels.samples import MOST_LABELS, sampled_items
from consilience.consensus.labels.shared_errors import count_independent, warn_of_shared_errors
from consilience.consensus.labels.subtypes import (
    MOST,
    SubtypeFit,
    divide_classes,
    mean_rows,
    of_classes,
    sample_to_decide_on,
    subtype_of_item,
)
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators import learned
from consilience.estimators.annotator_tables import TableWhenAsked, information
from consilience.estimators.copies import COPIES
from consilience.estimators.gold import gold_codes
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import AUTO, NOT_NEGATIVE, TRUTH, Requirements, is_auto, one_of, whole
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import most_probable
from consilience.inference.iterate import Loop, Trace, begin
from consilience.inference.label_counts import Counting
from consilience.inference.product_distributions import (
    AnyTable,
    Expectation,
    Responsibilities,
    Weights,
    encode_labels,
    shared_weights,
)
from consilience.inference.sparse_tables import Confusion, SparseTable, accuracy_of, are_mostly_empty
from consilience.inference.threads import one_blas_thread

MOST_NUMBERS = 50  # classes that are numbers; more are ratings

NOTHING_TELLS = (
    "DawidSkene: no item has two labels by different annotators, so that nothing tells how often a label is right. The "
    f"probabilities assume {ASSUMED:.0%}. Collect a second label of some items, or give gold."
)


@dataclass(frozen=True)
class HeardLabels:
    """Labels that are fitted, and what is asked of them more than once.

    known : class of items of which it is known, else -1; None if there are none.
    group : of copies, of each annotator, -1 for those alone.
    """

    labels: Labels
    known: Int[np.ndarray, " items"] | None
    group: Int[np.ndarray, " annotators"]

    @cached_property
    def free(self) -> Bool[np.ndarray, " items"]:
        """Whether the class of an item is not known."""
        return np.full(len(self.labels), True) if self.known is None else self.known < 0

    @cached_property
    def once(self) -> Labels:
        """One label of each group of copies for each item."""
        return one_label_of_each(self.labels, self.group)

    @cached_property
    def sums(self) -> PairSums:
        """Pairs of these."""
        return PairSums.of(self.once, self.known)


class DawidSkene(LabelAggregator):
    """Class of each item, and confusion matrix of each annotator, by the model of Dawid and Skene.

    Annotators who err less, judged by the labels of the others, have more weight. Names of labels mean the same to
    everyone.

    Parameters
    ----------
    confusion : {"full", "one-coin"}, default="full"
        Whether each annotator has a full matrix, or a single probability of a right label for all classes, with all
        wrong labels equally likely.
    prior : {"learned", None}, default="learned"
        Prior of the matrices. "learned": each annotator's rows are drawn towards the annotator's accuracy, and that
        towards the crowd's, as far as the labels show that annotators and classes are alike; few labels of an
        annotator then suffice. The proportions of the classes are drawn towards those that pairs of labels show. None:
        maximum likelihood.
    calibrate : bool or "independent", default=True
        Whether `responsibilities_` and `predict_proba` allow for errors that annotators share. True: they are less sure
        than the posterior of the model, which takes errors to be independent, by as much as predictions of the labels
        from the other labels of their items show, and at least by as much as recorded crowds with known classes teach,
        or `gold` does. "independent": only by what the labels show. False: the posterior. The most probable classes are
        the same.
    subtypes : "auto" or int, default="auto"
        Number of subtypes of each class. Where items of a class differ, so that annotators err together on some of
        them, a class is a mixture of subtypes, and annotators have a confusion matrix for each. "auto": the
        number that the bound favours, at most eight; one with a history, ``confusion="one-coin"`` or ``prior=None``,
        which do not know subtypes, and where annotators × classes² are more than half a million and than 50 for each
        label.
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who answered twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who agree with each other more than
        independent people would, with a warning that names them. None: every annotator weighs alone. A list: these
        groups.
    max_iter : int, default=500
        Maximum number of sweeps, for each number of subtypes; at most 30 further ones follow a division.
    tol : float, default=1e-6
        Converged when the relative gain of the bound is less than this.
    n_jobs : int, optional
        Number of threads that share the items, as in joblib.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.

    Attributes
    ----------
    labels_ : ndarray of class names, shape (n_items,)
        Most probable class; missing (NaN if classes are numbers, else None) for items without labels whose class is not
        known.
    labels_series_ : Series
        The same, indexed by item.
    undecided_ : ndarray of bool, shape (n_items,)
        Items of which several classes are equally probable, to a millionth: `labels_` has the first of them.
    responsibilities_ : ndarray, shape (n_items, n_classes)
        Probability of each class.
    is_cautious_ : bool
        Whether the cautious prior was taken: because of what labels show, or because most items have one label, and
        few several. Only crowds with at most ten labels an item are asked, and those with a history or
        ``confusion="one-coin"``, or over partitions, are not.
    temperature_ : float
        By which the evidence of the labels is divided, at least 1; 1 if annotators err independently.
    classes_ : ndarray of class names, shape (n_classes,)
    class_proportions_ : ndarray, shape (n_classes,)
        π, posterior mean.
    n_subtypes_ : int
        Number of subtypes of each class; 1 if annotators err independently.
    subtypes_ : ndarray of int, shape (n_items,)
        Subtype of each item: the most probable one of its class, numbered by decreasing size; -1 for items without
        labels.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels; agreement, the expected share of these labels that are right; accuracy, the probability that a label
        is right according to the confusion matrix; accuracy_low and accuracy_high, its 90 % credible interval, NaN with
        ``prior=None``, which reaches as far as the calibrated probabilities move the share of right labels; information
        of a label about the class, bits. Annotators of the history who gave no labels here
        come last.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Posterior mean probability of each label, indexed by annotator and class.
    confusion_counts_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Expected number of labels, including the history: it can be the history of the next fit. The labels of an item
        by annotators who weigh together count as one.
    copies_ : DataFrame, one row for each group of annotators who weigh together
        annotators; n_items that at least two of them labelled; agreement, the share of equal labels of two of them;
        expected, the share that the other annotators explain, NaN if they do not agree with each other; dependence,
        how far the agreement goes from there towards 1, beyond chance; p_value of agreement at the limit for
        independent people, before correction for the number of pairs.
    labels_apart_ : ndarray of class names, shape (n_items,)
        `labels_` if every annotator weighs alone.
    n_clusters_ : int
        Number of classes.
    notes_ : list of str
        Which gold items the labels contradict more than chance explains, and whether too few items have several labels
        to tell how annotators err; empty unless that is so.
    lower_bound_ : float
        Bound on ln p(labels), nats.
    lower_bounds_ : ndarray, shape (n_iter_,)
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    MajorityVote : The baseline.
    SpectralEM : The same model from another start.
    StagewiseEM : If most people label at random.
    consilience.semisupervised.PartitionLabelModel : If names do not mean the same to all.

    References
    ----------
    Dawid & Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
    Statistics 28(1).

    Examples
    --------
    >>> from consilience.consensus import DawidSkene
    >>> annotations = [["cat", "cat", "dog"], ["cat", "cat", "cat"], ["dog", "dog", "cat"], ["dog", "dog", None]]
    >>> model = DawidSkene().fit(annotations)
    >>> model.labels_.tolist()
    ['cat', 'cat', 'dog', 'dog']
    >>> bool(model.annotators_["accuracy"].idxmin() == 2)
    True
    """

    _axes: ClassVar[Axes] = LabelAggregator._axes | {
        "confusion_counts_": ("annotators",),
        "_sparse_counts": ("annotators",),
        "subtypes_": ("items",),
        "_posterior": ("items",),
        "_without_floors": ("items",),
        "_subtype_rows": ("annotators",),
    }

    confusion_counts_: Any = TableWhenAsked("_sparse_counts")

    _learned: ClassVar[Attributes] = {
        "_log_weights": learned.array(float, "components", high=learned.ROUNDING, inf=True),
        "_log_table": learned.either(
            learned.array(float, "annotators × labels", "components", high=learned.ROUNDING, inf=True),
            learned.sparse_table("annotators", "labels", "components", high=0),
        ),
        **learned.BOUNDED,
        "class_proportions_": learned.array(float, "clusters", low=0, high=1),
        "n_subtypes_": learned.whole(1),
        "subtypes_": learned.array(int, "items", low=-1),
        "_subtype_rows": learned.optional(learned.array(float, "annotators × labels", "components", low=0, high=1)),
        "is_cautious_": learned.optional(learned.TRUTH),  # files of earlier versions do not say
        "_pull": learned.optional(learned.array(float, 2, low=0)),
        "temperature_": learned.number(1),
        "_floors": learned.array(float, 4, low=0),
        "_without_floors": learned.optional(learned.array(float, "items", "clusters", low=0, high=1, shares=True)),
        "_posterior": learned.optional(learned.array(float, "items", "clusters", low=0, high=1, shares=True)),
        "_shared_confusion": learned.array(float, "clusters", "clusters", low=0, high=1),
        "notes_": learned.optional(learned.NOTES),  # files of earlier versions have none
        "_factors": learned.optional(learned.or_none(learned.array(float, "clusters", "clusters", low=0))),
        "_newcomer": learned.or_none(learned.array(float, "clusters", "clusters", low=0, high=1, shares=True)),
        "confusion_counts_": learned.optional(
            learned.table("annotators × clusters", "labels", keys=("annotator", "class"))
        ),
        "_sparse_counts": learned.optional(learned.sparse_table("annotators", "labels", "clusters", low=0)),
    }

    _requirements: ClassVar[Requirements] = {
        "confusion": one_of("full", "one-coin"),
        "prior": one_of("learned", None),
        "calibrate": TRUTH | one_of("independent"),
        "copies": COPIES,
        "subtypes": AUTO | whole(1, MOST),
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        confusion: Literal["full", "one-coin"] = "full",
        prior: Literal["learned", None] = "learned",
        calibrate: Flag | Literal["independent"] = True,
        subtypes: NumberOfClusters = "auto",
        copies: NameGroups = "auto",
        max_iter: Integer = 500,
        tol: Real = 1e-6,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
    ):
        self.confusion = confusion
        self.prior = prior
        self.calibrate = calibrate
        self.subtypes = subtypes
        self.copies = copies
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        annotations: AnnotationsLike,
        y: Any = None,
        *,
        missing: Missing | None = None,
        gold: Gold | None = None,
        history: FrameLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        annotations : Labels, DataFrame or array of shape (n_items, n_annotators)
            Labels; a long table of item, annotator, label or of crowd-kit's task, worker, label; or a label matrix,
            in which NaN and None mean that the annotator did not label the item.
        y : not used
            Refused, unless it is one value for each item, which scikit-learn passes to every estimator.
        missing : optional
            Value or list of values that means missing, in addition to blank cells. By default -1
            if it is the only negative integer; ``missing=[]`` treats it as a name. For tables and arrays only.
        gold : Series or dict, optional
            Known classes by item; items that are not among the annotations are an error.
        history : DataFrame, optional
            Counts of earlier labels, such as `confusion_counts_` of another fit: indexed by annotator and class, one
            column per label. Annotators who are not among the annotations are kept, and inform the crowd; so are
            classes that no label here names, with a warning.

        Returns
        -------
        DawidSkene

        Raises
        ------
        InputError
            Annotations without labels, features given with them, gold or history that do not match them, or an invalid
            parameter.

        Warns
        -----
        AnnotationWarning
            Something was left out, treated as missing, or not used; annotators weigh together, or give the same label
            to everything; no item has two labels; or the history has classes that no label names.
        CalibrationWarning
            There are at most seven annotators and no gold, or labels agree weakly.
        ConvergenceWarning
            The bound still rose after `max_iter` sweeps.
        """
        require_no_second(y, type(self).__name__)
        self._check_parameters()
        labels = with_classes_of(history, self._labels(annotations, reset=True, missing=missing, gold=gold))
        if history is not None:
            self._require_few_cells(labels)
        warn_of_ratings(labels)
        known = gold_codes(gold, labels)
        arranged = arrange(labels, None if known is None else known[:, None])
        annotators, past = history_counts(history, arranged.ordered)
        known = None if known is None else known[arranged.items]
        del labels  # those in order are as large
        with one_blas_thread(), self._progress():
            self._fit(arranged.ordered, known, annotators, past)
        self._restore(arranged)
        return self

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: None) -> DawidSkene:
        return self._fit(labels, known, labels.annotators, 0.0)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_auto(self.subtypes) and int(self.subtypes) > 1 and (self.confusion != "full" or self.prior is None):
            raise InputError(
                f"subtypes={self.subtypes} of DawidSkene needs confusion='full' and prior='learned'. "
                f"Got confusion={self.confusion!r} and prior={self.prior!r}."
            )

    def _can_be_sparse(self) -> bool:
        return is_auto(self.subtypes) or int(self.subtypes) == 1

    def counting_of_sparse(self) -> Counting:
        """Return which labels are counted where tables are sparse."""
        return "right" if self.confusion == "one-coin" else "probable"

    def _is_sparse(self, labels: Labels, n_annotators: int, history: Counts | float) -> bool:
        n_cells = n_annotators * labels.n_classes**2
        return self._can_be_sparse() and are_mostly_empty(n_cells, labels.n_rows) and not np.any(history)

    def _fit(
        self, labels: Labels, known: Int[np.ndarray, " items"] | None, annotators: pd.Index, history: Counts | float
    ) -> DawidSkene:
        learned = self.prior is not None
        constant = constant_here_and_before(labels, history) if learned else np.zeros(labels.n_annotators, dtype=bool)
        warn_of_constant(labels, constant, type(self).__name__)
        before = history
        if isinstance(history, np.ndarray) and constant.any():
            before = history.copy()  # the fit without copies reads all of it
            before[: len(constant)][constant] = 0
        copies = copies_of(self, labels, known=known, annotators=annotators)
        heard = HeardLabels(without(labels, constant), known, copies.group)
        pull, tried = self._choose_prior(heard, history)
        self.is_cautious_ = pull != NO_PULL
        wanted = self._wanted_subtypes(heard, history, pull, tried)
        of_all = tried if tried is not None and tried.n_items == len(heard.labels) else None
        first, fit = self._fits(heard, pull, len(annotators), before, wanted, of_all)
        keep_trace(self, fit.trace)
        found, has_gold = self._calibration(heard, first), not heard.free.all()
        notes = note_on_few(heard.sums, has_gold=has_gold) if pull == PULL_OF_ONE else []
        if known is not None and self.calibrate:
            state = fit.trace.state
            gold = GoldItems.of(heard.once, state.model, state.log_weights, fit.responsibilities(), known)
            notes += note_contradictions(gold, found.temperature, labels.items)
            found = calibrate_by_gold(found, gold) if found.has_floors else found
        self._read_off(labels, heard.labels, fit, found, annotators, known)
        self.notes_ = notes
        if constant.any():
            self._add_constant(labels, constant, history - before)
        compare_with_apart(self, copies, lambda apart: apart._fit(labels, known, annotators, history), labels)
        if self.calibrate:
            speak = np.isin(np.arange(len(constant)), heard.labels.annotator)
            n_independent = count_independent(speak, copies.group[: len(constant)])
            warn_of_shared_errors(type(self).__name__, n_independent, has_gold, heard.sums)
        return self

    def _wanted_subtypes(
        self, heard: HeardLabels, history: Counts | float, pull: Pull, tried: SubtypeFit | None
    ) -> int | None:
        """Number of subtypes; None for the number that the bound favours. `tried` may be a fit of the same sample."""
        if not is_auto(self.subtypes):
            if int(self.subtypes) > 1 and np.any(history):
                raise InputError("history has counts of classes, not of subtypes. Leave out subtypes, or the history.")
            return int(self.subtypes)
        if self.confusion != "full" or self.prior is None or np.any(history):
            return 1
        labels = heard.labels
        if labels.n_rows <= MOST_LABELS:
            return None
        sample = sample_to_decide_on(labels)
        if not sample.n_rows:
            return 1
        group = heard.group[labels.annotators.get_indexer(sample.annotators)]
        is_tried = heard.known is None and sample.n_annotators == labels.n_annotators
        first = tried if is_tried and tried is not None and tried.n_items == len(sample) else None
        fit = self._fits(HeardLabels(sample, None, group), pull, sample.n_annotators, first=first)[1]
        return fit.evidence.n_subtypes

    def may_be_cautious(self, n_classes: int) -> bool:
        """Whether there is a cautious prior of such matrices."""
        return self.prior is not None and self.confusion == "full" and n_classes > 1

    def _choose_prior(self, heard: HeardLabels, history: Counts | float) -> tuple[Pull, SubtypeFit | None]:
        """Return the pull under which labels go better with the others of their items.

        With the fit under it, if there is one: of all labels, or of many, of a sample, which decides unless it has
        fewer labels than the confusion matrices have cells. It would tell little of these, and be fitted in more sweeps
        than all labels.
        """
        labels = heard.labels
        if not self.may_be_cautious(labels.n_classes) or np.any(history):
            return NO_PULL, None
        if are_too_few(heard.sums):
            return PULL_OF_ONE, None
        if not can_tell(heard.sums):
            return NO_PULL, None
        if labels.n_rows > MOST_LABELS > labels.n_annotators * labels.n_classes**2:
            items = sampled_items(labels, heard.free & (np.diff(labels.indptr) > 1))
            heard = HeardLabels(labels[items], None, heard.group)

        def correlation(fit: SubtypeFit) -> float:
            model, log_weights = fit.trace.state.model, fit.trace.state.log_weights
            return correlate_with_others(heard.once, model, log_weights, fit.responsibilities(), heard.free)

        pulls = (NO_PULL, PULL)
        fits = [self._fits(heard, pull, labels.n_annotators, n_subtypes=1)[0] for pull in pulls]
        ordinary, cautious = map(correlation, fits)
        collapsed = has_collapsed(ordinary, cautious, heard.sums.n_compared)
        return pulls[collapsed], fits[collapsed]

    def _fits(
        self,
        heard: HeardLabels,
        pull: Pull,
        n_annotators: int,
        history: Counts | float = 0.0,
        n_subtypes: int | None = None,
        first: SubtypeFit | None = None,
    ) -> tuple[SubtypeFit, SubtypeFit]:
        """Fit with one subtype per class, unless `first` is that, and with more: None for what the bound favours."""
        labels, n_classes = heard.labels, heard.labels.n_classes
        counting = self.counting_of_sparse() if self._is_sparse(labels, n_annotators, history) else "all"
        weight = shared_weights(labels.item, heard.group[labels.annotator])
        sizes = 0.0 if self.prior is None else prior_of_classes(heard.sums, pull)

        def evidence_for(n_subtypes: int) -> DawidSkeneEvidence:
            onehot = encode_labels(
                labels,
                n_classes * n_subtypes,
                n_annotators=n_annotators,
                known=heard.known,
                n_classes=n_classes,
                weight=weight,
                n_jobs=self.n_jobs,
                counting=counting,
            )
            return DawidSkeneEvidence(onehot, history, sizes, n_subtypes, pull)

        if first is None:
            evidence = evidence_for(1)
            first = SubtypeFit(self.learn(first_guess(labels, heard.known, weight), evidence), evidence)
        if n_classes == 1 or n_subtypes == 1 or counting != "all" or (n_subtypes is None and not first.trace.converged):
            return first, first
        values = np.ones(labels.n_rows) if weight is None else weight
        column = labels.annotator * n_classes + labels.label
        onehot = csr_array((values, column, labels.indptr), shape=(len(labels), n_annotators * n_classes))
        is_chosen = is_auto(self.subtypes)
        fit = divide_classes(first, onehot, evidence_for, n_subtypes=n_subtypes, max_iter=self.max_iter, tol=self.tol)
        return first, first if is_chosen and fit.trace.lower_bound <= first.trace.lower_bound else fit

    def learn(
        self, start: Responsibilities | Expectation, evidence: DawidSkeneEvidence, loop: Loop = begin
    ) -> Trace[DawidSkeneState]:
        """Sweep from the first responsibilities, or their sums, until the bound converges; `loop` runs the sweeps."""
        return run(
            start,
            evidence,
            one_coin=self.confusion == "one-coin",
            learned=self.prior is not None,
            max_iter=self.max_iter,
            tol=self.tol,
            loop=loop,
        )

    def calibration_of(
        self,
        labels: Labels,
        state: DawidSkeneState,
        responsibilities: Responsibilities,
        *,
        free: Bool[np.ndarray, " items"],
        told: bool = False,
    ) -> Calibration:
        """Find how far the probabilities are to be trusted; warn if nothing tells.

        Parameters
        ----------
        labels : one of each group of copies for each item.
        state : with one subtype per class.
        responsibilities : of the items.
        free : items whose class is not given.
        told : whether given classes, or a history, tell how often labels are right.
        """
        floors = INDEPENDENT if isinstance(self.calibrate, str) else RECORDED
        found = calibration(
            labels, state.model, state.log_weights, responsibilities, free=free, told=told, floors=floors
        )
        if found.is_assumed:
            warnings.warn(NOTHING_TELLS, AnnotationWarning, stacklevel=outside())
        return found

    def _calibration(self, heard: HeardLabels, fit: SubtypeFit) -> Calibration:
        if not self.calibrate:
            return no_calibration(heard.labels.n_classes)
        told = not heard.free.all() or bool(np.any(fit.evidence.history))
        return self.calibration_of(heard.once, fit.trace.state, fit.responsibilities(), free=heard.free, told=told)

    def _read_off(
        self,
        labels: Labels,
        heard: Labels,
        fit: SubtypeFit,
        calibrated: Calibration,
        annotators: pd.Index,
        known: Int[np.ndarray, " items"] | None,
    ) -> None:
        n_classes, state, evidence = labels.n_classes, fit.trace.state, fit.evidence
        q = fit.responsibilities()
        in_classes = of_classes(q, n_classes)
        matrices = state.model.matrices()
        of_each_class = mean_rows(matrices, state.expected.sizes + 1)  # of the prior of subtypes, Dirichlet(1)
        log_table = columns_of(state.model.log_table)
        told = calibrated.probabilities(evidence.chunks, state.log_weights, log_table, in_classes)
        self._set_result(
            labels, in_classes, labels.classes, of_each_class, annotators=annotators, known=known, told=told
        )
        self._posterior, self._without_floors = in_classes, told
        if calibrated.has_floors:
            alone = replace(calibrated, floors=INDEPENDENT, factors=None)
            self._without_floors = alone.probabilities(evidence.chunks, state.log_weights, log_table, in_classes)
        weight = self._weights_of(heard.item, heard.annotator, heard.label)
        doubted = doubted_labels(heard, in_classes, weight, len(matrices))
        moved = sum_right(labels, told - in_classes, len(matrices))
        self.keep_learned(state, evidence, calibrated, q.mean(0), doubted, moved)
        if isinstance(matrices, SparseTable):
            self._sparse_counts = sparse_counts(heard, in_classes, weight, len(matrices))
        self.subtypes_ = subtype_of_item(q, most_probable(told), n_classes)
        self.subtypes_[pd.isna(self.labels_)] = MISSING

    def keep_learned(
        self,
        state: DawidSkeneState,
        evidence: DawidSkeneEvidence,
        calibrated: Calibration,
        share: Weights,
        doubted: Float[np.ndarray, " annotators"],
        moved: Float[np.ndarray, " annotators"],
    ) -> None:
        """Set what is told of classes and annotators besides their table and their matrices.

        Parameters
        ----------
        share : of the items, of each component.
        doubted : see `doubted_labels`.
        moved : by how many more labels of each annotator are right under the calibrated probabilities.
        """
        self.keep_state(state, calibrated, evidence.sizes, evidence.n_subtypes)
        self._pull = np.array(evidence.pull)
        interval = accuracy_interval(state.model, share, doubted)
        moved = moved / np.maximum(self.annotators_["n_labels"].to_numpy(), 1)
        self.annotators_ = add_interval(self.annotators_, *widen_interval(*interval, moved))
        if self.n_subtypes_ > 1:
            matrices = state.model.matrices()
            self._subtype_rows = matrices.transpose(0, 2, 1).reshape(-1, matrices.shape[1])
        for name in ("confusion_counts_", "_sparse_counts"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if not isinstance(state.expected.counts, np.ndarray):
            return
        table, n_classes = self.confusion_matrices_, self.n_clusters_
        counts = of_classes(labels_of(state.expected, evidence) + evidence.history, n_classes).transpose(0, 2, 1)
        self.confusion_counts_ = pd.DataFrame(counts.reshape(-1, n_classes), table.index, table.columns)

    def keep_state(
        self,
        state: DawidSkeneState,
        calibrated: Calibration,
        imagined: Float[np.ndarray, " classes"] | float,
        n_subtypes: int,
    ) -> None:
        """Set what is told of the classes, and what gives the probabilities of items.

        imagined : items of each class in the prior of the proportions.
        """
        n_components = len(state.log_weights)
        sizes = of_classes(state.expected.sizes, n_components // n_subtypes) + (self.prior is not None) + imagined
        self.class_proportions_, self.n_subtypes_ = sizes / sizes.sum(), n_subtypes
        model = state.model.complete() if isinstance(state.model, Hierarchical) else state.model
        self._log_weights, self._log_table = state.log_weights, columns_of(model.log_table)
        self._newcomer = of_newcomer(state.model)
        self.temperature_, self._floors = calibrated.temperature, np.array(astuple(calibrated.floors))
        self._shared_confusion, self._factors = calibrated.confusion, calibrated.factors

    def silence(self, annotators: Int[np.ndarray, " silent"]) -> None:
        """Take their influence on the classes of items from some annotators."""
        if isinstance(self._log_table, SparseTable):
            zero = np.zeros(len(annotators))
            nothing = SparseTable.of_matching(zero, zero, len(self._label_names))
            self._log_table = self._log_table.with_others(annotators, nothing)
            return
        table = self._log_table.copy()
        table.reshape(-1, len(self._label_names), table.shape[1])[annotators] = 0.0
        self._log_table = table

    def _add_constant(
        self, labels: Labels, constant: Bool[np.ndarray, " annotators"], history: CountsOfAll | float
    ) -> None:
        """Set what is known of annotators who were not heard; `history` are the counts of theirs."""
        if isinstance(self._log_table, SparseTable):
            self._add_sparse_constant(labels, np.flatnonzero(constant))
            return
        here = counts_of(labels, self.responsibilities_, constant)
        counts = here + (history[: len(constant)] if isinstance(history, np.ndarray) else 0.0)
        self.keep_constant(np.flatnonzero(constant), counts, self.responsibilities_.mean(0))

    def keep_constant(
        self, rows: Int[np.ndarray, " constant"], counts: CountsOfAll, share: Float[np.ndarray, " classes"]
    ) -> None:
        """Replace what is told of annotators who were not heard.

        Parameters
        ----------
        rows : these annotators.
        counts : expected numbers of their labels.
        share : of the items, of each class.
        """
        n_classes, confusion = self.n_clusters_, as_constant(counts)
        self.silence(rows)
        if self.n_subtypes_ > 1:
            of_components = np.repeat(confusion.transpose(0, 2, 1), self.n_subtypes_, axis=2)
            self._subtype_rows.reshape(-1, n_classes, of_components.shape[2])[rows] = of_components[rows]
        for name, of_them in (("confusion_counts_", counts.transpose(0, 2, 1)), ("confusion_matrices_", confusion)):
            table = getattr(self, name)
            values = table.to_numpy(copy=True).reshape(-1, n_classes, n_classes)
            values[rows] = of_them[rows]
            setattr(self, name, pd.DataFrame(values.reshape(-1, n_classes), table.index, table.columns))
        self._qualify_constant(rows, self.confusion_matrices_.to_numpy().reshape(-1, n_classes, n_classes), share)

    def _add_sparse_constant(self, labels: Labels, rows: Int[np.ndarray, " constant"]) -> None:
        """Set what is known of annotators who were not heard, where tables are sparse."""
        self.silence(rows)
        said = count_labels(labels)[rows]
        of_them = labels.restrict(annotators=labels.annotators[rows])
        shares = self.responsibilities_[labels.items.get_indexer(of_them.items)]
        counts = sparse_counts(of_them, shares, None, len(rows))
        self._sparse_counts = self._sparse_counts.with_others(rows, counts)
        self._sparse_matrices = self._sparse_matrices.with_others(rows, sparse_constant(said))
        self._qualify_constant(rows, self._sparse_matrices, self.responsibilities_.mean(0))

    def _qualify_constant(
        self, rows: Int[np.ndarray, " constant"], matrices: Confusion, share: Float[np.ndarray, " classes"]
    ) -> None:
        own: dict[str, Any] = {
            "accuracy": accuracy_of(matrices, share),
            "accuracy_low": np.nan,
            "accuracy_high": np.nan,
            "information": information(share, matrices),
        }
        mine = np.isin(np.arange(len(self.annotators_)), rows)
        for name, value in own.items():
            self.annotators_[name] = np.where(mine, value, self.annotators_[name])

    def _probabilities(self, labels: Labels) -> Float[np.ndarray, "items classes"]:
        return self.probabilities_under(self.calibrated(), labels)

    @property
    def _assumes_accuracy(self) -> bool:
        """Whether nothing tells how often labels are right; see `Calibration.is_assumed`."""
        return self.calibrated().is_assumed

    def calibrated(self) -> Calibration:
        """Return how far the probabilities are moved from the posterior."""
        factors = vars(self).get("_factors")  # files of earlier versions have none
        return Calibration(self.temperature_, Floors(*self._floors.tolist()), self._shared_confusion, factors)

    def probabilities_under(self, calibrated: Calibration, labels: Labels) -> Float[np.ndarray, "items classes"]:
        """Return the probability of each class of fitted or new items, moved so far from the posterior."""
        onehot, table = self._evidence(without(labels, self.are_silent(labels)))
        return calibrated.probabilities(onehot, self._log_weights, table)

    def _of_newcomer(self) -> Float[np.ndarray, "classes labels"]:
        """Confusion matrix of an annotator who was not fitted: the mean of the learned prior, if there is one."""
        return super()._of_newcomer() if self._newcomer is None else self._newcomer

    def _mixture(self) -> tuple[Weights, AnyTable]:
        if self.n_subtypes_ == 1:
            return super()._mixture()
        return softmax(self._log_weights), self._subtype_rows


def warn_of_ratings(labels: Labels) -> None:
    """Warn if the classes have an order, or are too many numbers to be names, and name the model that takes it."""
    many = labels.n_classes > MOST_NUMBERS and pd.api.types.is_numeric_dtype(labels.classes)
    if labels.ordered or many:
        what = "levels with an order" if labels.ordered else f"{labels.n_classes} numbers"
        warnings.warn(
            f"DawidSkene: the classes are {what}, and it takes none to be nearer to another than any other is. "
            "OrdinalRatings takes them as ratings.",
            AnnotationWarning,
            stacklevel=outside(),
        )
