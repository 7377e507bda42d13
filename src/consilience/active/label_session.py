"""Ask and tell for labels: choose the items to be labelled next and by whom, collect labels, decide when to stop."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from sklearn.base import clone

from consilience.active import assignments
from consilience.active.base import Session
from consilience.active.label_checks import Compared, compare, say_misleads, tabulate_checks
from consilience.active.label_choice import choose_questions
from consilience.active.label_forecast import (
    LabelExpectations,
    LabelForecast,
    decide_by_gain,
    forecast_labels,
    steps_of,
)
from consilience.active.label_gain import Posterior, add_votes, confusion_or_crowd, expected_gain
from consilience.active.stability import Decision
from consilience.annotations import Labels, concat
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import code, frame_row, outside, plain
from consilience.annotations.types import Integer, Names, RandomSource, Real
from consilience.consensus import DawidSkene, MajorityVote
from consilience.errors import AnnotationWarning, InputError, UnannotatedWarning
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.parameters import (
    NONE,
    RANDOM_STATE,
    Requirement,
    Requirements,
    interval,
    is_number,
    is_whole,
    require_parameters,
    whole,
)
from consilience.inference.randomness import check_random_state
from consilience.inference.reweighted import say_few_people

HUNDRED = 100
ENOUGH = 0.5  # share of the items with two labels: fits to fewer may be sure of one class for nearly all items
DOUBTED = 0.2  # share of the items: if so many classes may be wrong, a model may only give few labels no credit
DIGITS = 12  # of gains: beyond, the order of sums decides
NOT_VOTES = "a model of labels with probabilities, such as DawidSkene()"


@dataclass(frozen=True)
class LabelQuestion:
    """An item to be labelled next.

    Attributes
    ----------
    number : int
        Number of the question in its session, from 1.
    item : name
    annotator : name, or None
        Whom it is for.
    gain : float
        By how much the label is expected to reduce the expected number of wrong items; NaN while there are no labels.
    at_random : bool
        Whether the item was drawn at random, to check the others.
    """

    number: int
    item: Any
    annotator: Any = None
    gain: float = np.nan
    at_random: bool = False


class LabelSession(Session):
    """A collection of labels in progress: chooses the items to be labelled next and by whom, and collects the labels.

    It performs no I/O; the caller (a web page, a simulation, a spreadsheet, a language model) has the items labelled.

    Parameters
    ----------
    items : iterable of names
        Names of all items, distinct.
    classes : iterable of names, optional
        All classes. By default those that a label names so far.
    model : estimator, optional
        A model of labels with probabilities; by default `DawidSkene` with its defaults.
    max_per_item : int, optional
        Ask about no item more often than this.
    random_share : float, default=0.1
        Share of the questions about items that are drawn at random. Without them, nothing would show whether the
        model, by whose probabilities the others are chosen, is wrong: see `checks_`.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    items_ : Index, shape (n_items,)
    labels_ : Labels or None
        All labels so far, of all items.
    pending_ : list of LabelQuestion
        Asked and not yet answered.
    checks_ : DataFrame, two rows: chosen, at random
        Of the latter half of the answers that a model could predict, n_labels: answers to such questions; expected:
        mean probability, before the answer, that the label would be the most probable class; observed: share of which
        that was true; standard_error of the difference, if the expectation is right.

    Raises
    ------
    InputError
        There are no items, or a missing or repeated one; a parameter is wrong, including those of the model.

    See Also
    --------
    ActiveSession : For groupings of subsets.

    Examples
    --------
    >>> from consilience.active import LabelSession
    >>> session = LabelSession(["ant", "bee", "cow", "dog"], random_share=0, random_state=0)
    >>> said = {"Ann": ["small", "small", "large", "large"], "Bo": ["small", "small", "large", "small"]}
    >>> for annotator, labels in said.items():
    ...     _ = session.tell(dict(zip(session.items_, labels)), annotator=annotator)
    >>> [question.item for question in session.ask(1, annotators=["Cy"])]
    ['dog']
    """

    _requirements: ClassVar[Requirements] = {
        "model": Requirement((NOT_VOTES, "None"), lambda value: value is None or _has_probabilities(value)),
        "max_per_item": NONE | whole(1),
        "random_share": interval(0, 1, "both"),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        items: Any,
        *,
        classes: Any = None,
        model: Any = None,
        max_per_item: Integer | None = None,
        random_share: Real = 0.1,
        random_state: RandomSource = None,
    ) -> None:
        self.items = assignments.list_items(items, type(self).__name__)  # so that it can be read twice
        self.classes = None if classes is None else list_names(classes, "classes")
        self.model = model
        self.max_per_item = max_per_item
        self.random_share = random_share
        self.random_state = random_state
        self._begin()

    def _begin(self) -> None:
        self._check_parameters()
        self.items_ = assignments.distinct(self.items, type(self).__name__)
        self._random = check_random_state(self.random_state)
        self._labels: Labels | None = None
        self._asked_of: set[tuple[Any, Any]] = set()  # item and annotator of each label, and of answers without one
        self._declined: list[tuple[Any, Any]] = []  # those of answers without a label
        self._pending: dict[int, LabelQuestion] = {}
        self._n_asked = 0
        self._answered: list[Compared] = []
        self._fitted: Any = None
        self._n_fitted = 0  # labels that the model was fitted to
        self._unsaid: list[warnings.WarningMessage] = []

    def _state(self) -> dict[str, Any]:
        return {"items": len(self.items_), "labels": self._n_labels, "questions pending": len(self._pending)}

    def _settings(self) -> dict[str, Any]:
        return {"model": DawidSkene() if self.model is None else self.model}

    def _check_parameters(self) -> None:
        """Raise an InputError if a parameter is wrong."""
        require_parameters(self)
        if self.model is not None:
            self.model._check_parameters()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a file holds: questions as tuples of their fields."""
        state: dict[str, Any] = vars(self).copy()
        del state["_asked_of"], state["_unsaid"]
        state["_pending"] = [
            tuple(getattr(question, field.name) for field in fields(question)) for question in self._pending.values()
        ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the result of `__getstate__`."""
        for name, value in state.items():
            setattr(self, name, value)
        self._pending = {values[0]: LabelQuestion(*values) for values in state["_pending"]}
        self._asked_of = {*self._declined, *(() if self._labels is None else _item_annotators(self._labels))}
        self._unsaid = []

    @property
    def labels_(self) -> Labels | None:
        """All labels so far; None if there are none."""
        return self._labels

    @property
    def pending_(self) -> list[LabelQuestion]:
        """Asked and not yet answered."""
        return list(self._pending.values())

    @property
    def checks_(self) -> pd.DataFrame:
        """How often labels were as the model predicted, of items that it chose and of those drawn at random."""
        return tabulate_checks(self._answered)

    def ask(
        self,
        n_labels: int = 1,
        *,
        annotators: Names | Mapping[Any, float] | None = None,
        most_each: Integer | None = None,
        candidates: Names | None = None,
    ) -> list[LabelQuestion]:
        """Choose the items to be labelled next, each once, and whom to ask.

        The model is fitted again if there are new labels.

        Parameters
        ----------
        n_labels : int, default=1
            How many labels, to be collected in parallel.
        annotators : list or Series of names, or dict or Series of costs by name, optional
            Annotators who are at hand, and what a label by each costs: questions are those with the largest gain for
            their cost. Nobody is asked about an item twice. By default the questions are for nobody in particular, and
            a label is taken to be like the crowd's.
        most_each : int, optional
            Most questions to one annotator in this call.
        candidates : list of items, optional
            Choose among these; by default among all items.

        Returns
        -------
        list of LabelQuestion

        Raises
        ------
        InputError
            Fewer questions than that can be asked; a number, an annotator, a cost or a candidate is wrong.
        """
        if not (is_whole(n_labels, 1) and (most_each is None or is_whole(most_each, 1))):
            raise InputError(
                f"'n_labels' must be a positive int and 'most_each' one or None. Got {n_labels!r}, {most_each!r}."
            )
        names, costs = assignments.costs_of(annotators)
        gain = self._gains(names)
        rng = self._rng()
        at_random = rng.random(n_labels) < self.random_share
        allowed = self._allowed(names, candidates)
        value = gain / costs
        value[self._times_asked() == 0] += value.max()  # first, whatever it costs: nothing is known about them
        pairs = choose_questions(value, allowed, at_random, rng, most_each)
        questions = []
        for (item, annotator), drawn in zip(pairs, at_random):
            self._n_asked += 1
            by = float(gain[item, annotator]) if self._fitted is not None else np.nan
            question = LabelQuestion(self._n_asked, plain(self.items_[item]), names[annotator], by, bool(drawn))
            questions.append(question)
            self._pending[question.number] = question
        return questions

    def tell(self, labels: Any, *, question: Any = None, annotator: Any = None) -> LabelSession:
        """Add the label that answers a question, or further labels.

        Parameters
        ----------
        labels : label, dict or Series of labels by item, DataFrame or Labels
            With a `question`, one label; None or NaN if the annotator gave none, and is not to be asked about the item
            again. Otherwise labels of one annotator by item, or a long table or Labels with annotators of their own.
            Questions about these items to these annotators, or to nobody in particular, are answered by them.
        question : LabelQuestion, optional
            The question that is answered.
        annotator : name, optional
            Who gave the label, or the labels by item; by default whom the question is for, or else a new annotator.

        Returns
        -------
        LabelSession

        Raises
        ------
        InputError
            An item is not in the session, or a class not among `classes`; the question is not pending; the session
            already has a label of the item by this annotator.
        """
        if question is not None:
            self._require_pending(question, LabelQuestion, "question")
            annotator = question.annotator if annotator is None else annotator
            labels = {question.item: labels}
        if isinstance(labels, Mapping | pd.Series):
            new, missing = self._of_one_annotator(labels, annotator)
        elif annotator is None and (isinstance(labels, Labels) or hasattr(labels, "columns")):
            new, missing = self._of_annotators(labels), []
        else:
            raise InputError(
                "'labels' must be one label with a 'question', labels by item, or a table or Labels without an "
                f"'annotator'. Got {type(labels).__name__}."
            )
        self._require_new(new)
        self._record_answers(new, missing, question)
        if new.n_rows:
            self._labels = new if self._labels is None else concat([self._labels, new])
            self._asked_of.update(_item_annotators(new))
        return self

    def withdraw(self, question: Any) -> LabelSession:
        """Stop waiting for the answer to a question.

        Parameters
        ----------
        question : LabelQuestion
            One of `pending_`.

        Returns
        -------
        LabelSession
            The session itself.

        Raises
        ------
        InputError
            It is not pending.
        """
        self._require_pending(question, LabelQuestion, "question")
        del self._pending[question.number]
        return self

    def consensus(self) -> Any:
        """Fit the model to all labels so far.

        Returns
        -------
        estimator
            The fitted model: `DawidSkene`, unless the session has another.

        Raises
        ------
        InputError
            There are no labels, or the model cannot be fitted to them.

        Warns
        -----
        AnnotationWarning, ConvergenceWarning
            Of the model, except of items without labels; once for each fit.
        """
        fitted, unsaid = self._fit(), self._unsaid
        self._unsaid = []
        for caught in unsaid:
            warnings.warn(caught.message, stacklevel=outside())
        return fitted

    def should_stop(self, *, floor: Real = 1.0, n_labels: int = HUNDRED) -> Decision:
        """Whether the next hundred labels would put fewer items right than asked for.

        Parameters
        ----------
        floor : float, default=1.0
            Number of items for which it is worth to go on.
        n_labels : int, default=100
            Number of labels that are to put so many items right.

        Returns
        -------
        Decision
            True if it is time to stop, and not before four people labelled and half of the items have two labels, nor
            by fewer labels than are foreseen while a fifth of the classes is expected to be wrong; `reason` says why or
            why not, and whether the items that were drawn at random show that the model misleads.

        Raises
        ------
        InputError
            A number is wrong.

        Warns
        -----
        AnnotationWarning
            All labels so far name one class, and no other is known.
        """
        if not (is_number(floor, zero=True) and is_whole(n_labels, 1)):
            raise InputError(
                f"'floor' must be a number of at least 0 and 'n_labels' a positive int. Got {floor!r}, {n_labels!r}."
            )
        n_labels_of = np.zeros(len(self.items_)) if self._labels is None else np.diff(self._labels.indptr)
        if not n_labels_of.all():
            return Decision(False, f"{np.sum(n_labels_of == 0)} items have no label yet.")
        if n_labels_of.max() == 1:
            return Decision(False, "No item has two labels, so that nothing tells how often a label is right.")
        if (n_several := int(np.sum(n_labels_of > 1))) < ENOUGH * len(self.items_):
            have_two = f"{n_several} of {len(self.items_)} items have two labels or more"
            return Decision(False, f"Only {have_two}, too few to tell how often a label is right.")
        expected = self._expectations()
        decision = decide_by_gain(expected, n_labels, float(floor), self._rng())
        unsure = self._say_unsure(expected, n_labels) if decision.stop else ""
        return Decision(decision.stop and not unsure, decision.reason + unsure + say_misleads(self.checks_))

    def _say_unsure(self, expected: LabelExpectations, n_labels: int) -> str:
        """Say why a small gain may only mean that little is known about the annotators; nothing if enough is."""
        wrong = 1 - float(expected.posterior.max(1).mean())
        if few := say_few_people(len(np.unique(self._labels_or_error().annotator))):
            return f" But {few}"
        if wrong < DOUBTED or self._n_labels >= n_labels:
            return ""
        return (
            f" But {wrong:.0%} of the items are expected to have a wrong class, and {self._n_labels} labels are too "
            f"few to tell what {n_labels} more would do."
        )

    def labels_needed(self, target: Real = 0.05) -> LabelForecast:
        """Estimate how many labels a target error needs; see `consilience.active.label_forecast`.

        Parameters
        ----------
        target : float, default=0.05
            Target share of the items whose class is wrong, in (0, 1).

        Returns
        -------
        LabelForecast

        Raises
        ------
        InputError
            There are no labels, or the target is wrong.

        Warns
        -----
        AnnotationWarning
            All labels so far name one class, and no other is known.
        """
        if not (is_number(target) and target < 1):
            raise InputError(f"'target' must be a number in (0, 1). Got {target!r}.")
        return forecast_labels(self._expectations(), float(target), self._n_labels, self._rng())

    def forecast_error(self, n_labels: int) -> float:
        """Estimate the share of the items whose class is wrong after so many further labels, such as a budget allows.

        Parameters
        ----------
        n_labels : int

        Returns
        -------
        float

        Raises
        ------
        InputError
            There are no labels, or the number is wrong.

        Warns
        -----
        AnnotationWarning
            All labels so far name one class, and no other is known.
        """
        if not is_whole(n_labels, 1):
            raise InputError(f"'n_labels' must be a positive int. Got {n_labels!r}.")
        expected = self._expectations()
        return float(expected.errors(steps_of(n_labels, len(self.items_), 10), self._rng())[-1])

    @property
    def _n_labels(self) -> int:
        return 0 if self._labels is None else self._labels.n_rows

    def _labels_or_error(self) -> Labels:
        if self._labels is None:
            raise InputError("The session has no labels yet; add them with tell.")
        return self._labels

    def _fit(self) -> Any:
        """Fit the model if there are new labels; its warnings are kept until `consensus` is called."""
        labels = self._labels_or_error()
        if self._n_fitted != self._n_labels:
            model = DawidSkene() if self.model is None else clone(self.model)
            if getattr(model, "random_state", 0) is None:
                model.random_state = self._random.randint(2**31 - 1)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(labels)
            if not np.array_equal(model.classes_, labels.classes.to_numpy()):
                raise InputError(f"The classes of {model!r} are not those that labels name: leave out 'n_clusters'.")
            self._fitted, self._n_fitted = model, self._n_labels
            self._unsaid = [each for each in caught if not issubclass(each.category, UnannotatedWarning)]
        return self._fitted

    def _posterior(self) -> Posterior:
        """Probabilities by which questions are chosen."""
        return add_votes(self._fit().responsibilities_, self._labels_or_error())

    def _gains(self, names: list[Any]) -> Float[np.ndarray, "items annotators"]:
        """Expected gain of a label of each item by each annotator; equal for all while there are no labels."""
        if self._labels is None:
            return np.ones((len(self.items_), len(names)))
        posterior, crowd = self._posterior(), confusion_or_crowd(self._fit(), None)
        waiting = np.isin(np.arange(len(self.items_)), self._places(question.item for question in self.pending_))
        gains = {}
        for name in names:
            known = name if name in self._fitted.annotators_.index else None  # others are like the crowd
            if known not in gains:
                gains[known] = expected_gain(posterior, confusion_or_crowd(self._fitted, known), crowd, waiting)
        known = [name if name in gains else None for name in names]
        return np.column_stack([gains[name] for name in known]).round(DIGITS)

    def _expectations(self) -> LabelExpectations:
        self._warn_of_one_class()
        fitted = self._fit()
        temperature = getattr(fitted, "temperature_", 1.0)
        return LabelExpectations(fitted.responsibilities_, confusion_or_crowd(fitted, None), temperature)

    def _warn_of_one_class(self) -> None:
        """Warn if no label can be wrong, since all name one class."""
        classes = self._labels_or_error().classes
        if len(classes) == 1:
            warnings.warn(
                f"LabelSession: All labels so far name the class {plain(classes[0])!r}, so no error is expected. If "
                "there are other classes, the session must be created with all of them.",
                AnnotationWarning,
                stacklevel=outside(),
            )

    def _allowed(self, names: list[Any], candidates: Any) -> Bool[np.ndarray, "items annotators"]:
        """Whether each annotator may be asked about each item."""
        n_items = len(self.items_)
        allowed = np.ones((n_items, len(names)), dtype=bool)
        if candidates is not None:
            allowed &= np.isin(np.arange(n_items), self._places(list_names(candidates, "candidates")))[:, None]
        if self.max_per_item is not None:
            allowed &= (self._times_asked() < self.max_per_item)[:, None]
        for column, name in enumerate(names):
            if name is not None:
                allowed[self._places(item for item, annotator in self._known_pairs() if annotator == name), column] = (
                    False
                )
        return allowed

    def _known_pairs(self) -> list[tuple[Any, Any]]:
        """Item and annotator of each label, of each answer without one, and of each question."""
        return [*self._asked_of, *((question.item, question.annotator) for question in self.pending_)]

    def _times_asked(self) -> Int[np.ndarray, " items"]:
        return np.bincount(self._places(item for item, _ in self._known_pairs()), minlength=len(self.items_))

    def _places(self, names: Any) -> Int[np.ndarray, " names"]:
        return assignments.places_of(self.items_, names)

    def _of_one_annotator(self, labels: Any, annotator: Any) -> tuple[Labels, list[tuple[Any, Any]]]:
        """Return labels by item as Labels, and item and annotator where there is none."""
        assignments.require_annotator(annotator)
        annotator = self._new_annotator() if annotator is None else annotator
        series = pd.Series(labels, dtype=object)
        self._places(series.index)
        missing = series.isna()
        rows = [(item, annotator, label) for item, label in series[~missing].items()]
        return self._as_labels(rows), [(plain(item), annotator) for item in series.index[missing]]

    def _new_annotator(self) -> str:
        known = {annotator for _, annotator in self._asked_of}
        return next(name for number in count(1 + len(known)) if (name := f"answer {number}") not in known)

    def _of_annotators(self, labels: Any) -> Labels:
        """Return a table, or Labels, as labels of the session's items."""
        found = labels if isinstance(labels, Labels) else Labels.from_frame(labels, classes=self.classes)
        self._places(found.items)
        frame = found.to_frame()
        return self._as_labels(list(frame.itertuples(index=False, name=None)))

    def _as_labels(self, rows: list[tuple[Any, Any, Any]]) -> Labels:
        columns = zip(*rows) if rows else ((), (), ())
        item, annotator, label = (code(list(column)) for column in columns)
        coded = {"item": item, "annotator": annotator, "label": label}
        return Labels._from_columns(coded, self.items_, frame_row, classes=self.classes)

    def _require_new(self, labels: Labels) -> None:
        """Raise an InputError if an annotator labelled an item before, or gives it two labels."""
        seen: set[tuple[Any, Any]] = set()
        for item, annotator in _item_annotators(labels):
            if (item, annotator) in seen:
                raise InputError(
                    f"Annotator {annotator!r} gives item {item!r} two labels; a session asks for labels of which an "
                    "item has one, and for no tags."
                )
            if (item, annotator) in self._asked_of:
                raise InputError(
                    f"The session already has a label of item {item!r} by annotator {annotator!r}, or that they gave "
                    "none; each annotator labels an item once."
                )
            seen.add((item, annotator))

    def _record_answers(self, new: Labels, declined: list[tuple[Any, Any]], question: LabelQuestion | None) -> None:
        """Close the questions that are answered, and compare the labels with what the model predicted."""
        waiting = {(one.item, one.annotator): one for one in self.pending_}
        answered = [*zip(_item_annotators(new), new.classes[new.label]), *((one, None) for one in declined)]
        for (item, annotator), label in answered:
            closed = question or waiting.pop((item, annotator), None) or waiting.pop((item, None), None)
            if label is None:
                self._declined.append((item, annotator))
                self._asked_of.add((item, annotator))
            if closed is None:
                continue
            if label is not None and self._fitted is not None:
                place = int(self._places([item])[0])
                self._answered.append((closed.at_random, *compare(self._fitted, place, annotator, label)))
            del self._pending[closed.number]


def _has_probabilities(model: Any) -> bool:
    """Whether it is a model of labels with probabilities of classes, of which an item has one."""
    return isinstance(model, LabelAggregator) and not (isinstance(model, MajorityVote) or model.reads_tags)


def _item_annotators(labels: Labels) -> Iterator[tuple[Any, Any]]:
    items, annotators = labels.items.tolist(), labels.annotators.tolist()
    return ((items[item], annotators[annotator]) for item, annotator in zip(labels.item, labels.annotator))
