"""Plots as objects, as scikit-learn has them: what is drawn is counted once, and can be drawn again elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from matplotlib.axes import Axes

from consilience.analysis.findings import findings
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Self
from consilience.inspection.plots.annotators import plot_annotators
from consilience.inspection.plots.clusters import plot_clusters, plot_lower_bound
from consilience.inspection.plots.co_occurrence import plot_co_occurrence, plot_dendrogram
from consilience.inspection.plots.fusion import plot_item_map
from consilience.inspection.plots.heatmaps import plot_confusion, plot_mapping
from consilience.inspection.plots.style import Place

SECTIONS = """\
Parameters
----------
source : {source}
    What is drawn.

Attributes
----------
ax_ : {axes}
    Where it was drawn last.
figure_ : Figure
    The figure of these axes.

See Also
--------
{function} : The same as a function.
"""


class _Display:
    """What is drawn, and where it was drawn last.

    A subclass names the function that draws; the sections of its docstring that all displays share are written here.
    """

    _draw: ClassVar[Callable[..., Any]]
    _source: ClassVar[str] = "Findings"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not (draw := vars(cls).get("_draw")):
            return
        axes = "list of Axes, one for each annotator" if draw.__func__ is plot_confusion else "Axes"
        shared = SECTIONS.format(source=cls._source, axes=axes, function=draw.__func__.__name__)
        story, heading, examples = inspect.cleandoc(cls.__doc__ or "").partition("\n\nExamples\n")
        cls.__doc__ = f"{story}\n\n{shared.rstrip()}{heading}{examples}\n"

    def __init__(self, source: Any) -> None:
        self.source = source

    def plot(self, *, ax: Place | None = None, **options: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or an empty Figure or SubFigure, optional
            Where to draw; see :doc:`/plots`.
        **options
            As for the function of this plot.

        Returns
        -------
        the display, with `ax_` and `figure_`
        """
        self.ax_: Axes | list[Axes] = type(self)._draw(self.source, ax=ax, **options)
        first = self.ax_[0] if isinstance(self.ax_, list) else self.ax_
        self.figure_ = first.get_figure(root=True)
        return self


class _ModelDisplay(_Display):
    """A plot of a fitted model alone."""

    _source = "fitted estimator"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Place | None = None, **options: Any) -> Self:
        """Draw a fitted model.

        Parameters
        ----------
        estimator : fitted estimator, or a Pipeline that ends in one
        ax, **options : as for `plot`

        Returns
        -------
        the display
        """
        return cls(estimator).plot(ax=ax, **options)


class _ItemsDisplay(_Display):
    """A plot of items, by a fitted model and the annotations that it was fitted to."""

    @classmethod
    def from_estimator(
        cls, estimator: Any, annotations: AnnotationsLike | None = None, *, ax: Place | None = None, **options: Any
    ) -> Self:
        """Draw the items of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator, or a Pipeline that ends in one
        annotations : Groupings, Labels or Pairs, optional
            Those that were passed to `fit`. SubsetFusion keeps them.
        ax, **options : as for `plot`

        Returns
        -------
        the display
        """
        return cls(findings(estimator, annotations, certainty=None)).plot(ax=ax, **options)


class ClustersDisplay(_Display):
    """Items in the plane, with a colour and a shape for each cluster."""

    _draw = staticmethod(plot_clusters)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: FeaturesLike | None = None,
        annotations: AnnotationsLike | None = None,
        *,
        ax: Place | None = None,
        **options: Any,
    ) -> Self:
        """Draw the clusters of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator, or a Pipeline that ends in one
        X : DataFrame or array, shape (n_items, n_features), optional
            The features that were passed to `fit`.
        annotations : Groupings, Labels or Pairs, optional
            Those that were passed to `fit`. SubsetFusion keeps them.
        ax, **options : as for `plot`

        Returns
        -------
        the display
        """
        return cls(findings(estimator, annotations, X, certainty=None)).plot(ax=ax, **options)


class CoOccurrenceDisplay(_ItemsDisplay):
    """Matrix of how often two items were put together.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from consilience.consensus import CSPA
    >>> from consilience.inspection import CoOccurrenceDisplay
    >>> sorts = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["b", "x"]]
    >>> model = CSPA(n_clusters=2, random_state=0).fit(sorts)
    >>> display = CoOccurrenceDisplay.from_estimator(model, sorts)
    >>> figure, ax = plt.subplots()
    >>> display.plot(ax=ax, labels=False).ax_ is ax
    True
    >>> plt.close("all")
    """

    _draw = staticmethod(plot_co_occurrence)


class DendrogramDisplay(_ItemsDisplay):
    """Tree of the items, by how often they were put together."""

    _draw = staticmethod(plot_dendrogram)


class ItemMapDisplay(_ItemsDisplay):
    """Map of the items, on which those that were often put together are close."""

    _draw = staticmethod(plot_item_map)


class MappingDisplay(_ModelDisplay):
    """Matrix of what each annotator's groups stand for."""

    _draw = staticmethod(plot_mapping)


class ConfusionDisplay(_ModelDisplay):
    """Confusion matrices of annotators of labels."""

    _draw = staticmethod(plot_confusion)


class AnnotatorsDisplay(_ModelDisplay):
    """Accuracy of each annotator against the number of their labels."""

    _draw = staticmethod(plot_annotators)


class LowerBoundDisplay(_ModelDisplay):
    """Lower bound after each sweep of the best restart, and the final bounds of the others."""

    _draw = staticmethod(plot_lower_bound)
