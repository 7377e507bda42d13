"""What holds for every plot: where it is drawn, what can be left out, that it can be read in any style and size."""

import inspect
import subprocess
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from consilience import Groupings, Labels, inspection
from consilience.active import plan
from consilience.consensus import CSPA, OrdinalRatings, SubsetFusion
from consilience.errors import AnnotationWarning
from consilience.inspection import report
from consilience.metrics import odd_one_out, odd_one_out_questions
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_ratings
from tests.inspection.test_deep_plots import StandIn, features_of
from tests.pages import draw
from tests.quick_cases import quick_in_turn

N_ITEMS = 90  # more than a dendrogram's leaves, and than the rows of a matrix that bear names
LONG = [f"a rather long name of the item number {number}" for number in range(N_ITEMS)]


@pytest.fixture(scope="module")
def crowded():
    """Groupings of 90 items with long names by 64 annotators, each of all items, and the clusters of CSPA."""
    rng = np.random.default_rng(0)
    truth = np.arange(N_ITEMS) % 9
    annotations = {
        f"annotator with a long name {who}": [
            f"group {code} that was named at length"
            for code in np.where(rng.random(N_ITEMS) < 0.2, rng.integers(9, size=N_ITEMS), truth)
        ]
        for who in range(64)
    }
    groupings = Groupings.from_matrix(pd.DataFrame(annotations, index=LONG))
    return CSPA(n_clusters=9, random_state=0).fit(groupings), groupings


def judged(clusters):
    """What three people who choose the right item two times in three say of clusters of four items each."""
    questions = odd_one_out_questions(np.repeat(clusters, 4), 4 * len(clusters), random_state=0)
    rng = np.random.default_rng(0)
    right = rng.random((len(questions), 3)) < 2 / 3
    said = np.where(right, questions["odd"].to_numpy()[:, None], rng.integers(1, 5, right.shape))
    rows = [
        (question, f"p{who}", said[place, who]) for place, question in enumerate(questions.index) for who in range(3)
    ]
    return odd_one_out(questions, pd.DataFrame(rows, columns=["question", "annotator", "answer"]))


def table_of_ratings(items):
    """A rating of each item on two scales, in opposite orders."""
    values = np.linspace(1, 5, len(items))
    return pd.DataFrame({"importance": values, "feasibility": values[::-1]}, index=items)


@pytest.fixture(scope="module")
def plots(sorts, fusion, iris, crowded, named):
    """Every public plot, on small data and where names are many and long, by name."""
    few, deep = sorts[0], StandIn().fit()
    mapped = PartitionLabelModel(max_clusters=9, n_init=1, prior_variance=3.0, tol=1e-2, random_state=0)
    mapped = mapped.fit(None, crowded[1].restrict(annotators=crowded[1].annotators[:8]))
    stability = pd.DataFrame({"n_groupings": [1000, 2000, 2000, 4000], "stability": [0.5, 0.6, 0.7, 0.9]})
    halves = [crowded[1].restrict(annotators=half) for half in np.array_split(crowded[1].annotators, 2)]
    changed = inspection.study_difference(*halves, n_permutations=99, n_draws=0, random_state=0)
    planned = plan(12, n_clusters=3, agreement=0.6, target=0.6, n_draws=2, random_state=0)
    sweet, other = ["sweet; a word that was described at length", "sour"], ["sour", "odd"]
    worded = Groupings.from_matrix([sweet * 3, sweet * 3, other * 3, other * 3])
    scores = np.linspace(1, 5, N_ITEMS)
    ratings = simulate_ratings(scores, n_annotators=40, items=LONG, random_state=0)
    few_ratings = simulate_ratings(scores[::9], n_annotators=4, random_state=0)
    on_scales = pd.DataFrame({"item": LONG, "a long name of a scale": scores, "other": scores[::-1] ** 2 % 3})
    scaled = [
        (inspection.item_ratings(fusion[0], table_of_ratings(fusion[0].items_)),),
        (inspection.item_ratings(crowded[0], on_scales),),
    ]
    rated = [(OrdinalRatings(max_iter=5, tol=1.0).fit(one),) for one in (few_ratings, ratings)]
    return {
        "plot_agreement": [sorts[1:], crowded[1:]],
        "plot_annotator_map": [
            sorts[1:],
            (crowded[1], inspection.panel_segments(crowded[1], n_segments=3, clusters=np.zeros(N_ITEMS, dtype=int))),
        ],
        "plot_annotators": [named[:1]],
        "plot_certainty_map": [
            (fusion[0], inspection.certainty(fusion[0], n_draws=5, random_state=0)),
            (crowded[0], inspection.certainty(*crowded, n_draws=2, random_state=0), crowded[1]),
        ],
        "plot_clusters": [iris, (few, None, sorts[1]), (crowded[0], None, crowded[1])],
        "plot_co_occurrence": [fusion[:1], sorts, crowded, crowded[1:]],
        "plot_compromise": [
            (inspection.compromise_map(sorts[1]), sorts[0]),
            (inspection.compromise_map(crowded[1]),),
        ],
        "plot_confusion": [named[:1]],
        "plot_dendrogram": [fusion[:1], sorts, crowded, crowded[1:]],
        "plot_difference": [(changed,)],
        "plot_flow": [(changed,)],
        "plot_go_zone": scaled,
        "plot_item_map": [fusion[:1], sorts, crowded, crowded[1:]],
        "plot_latent": [(deep, features_of(deep))],
        "plot_lower_bound": [(few,)],
        "plot_mapping": [(few,), (mapped,)],
        "plot_odd_one_out": [(judged(["bird", "fish"]),), (judged(LONG[:12]),)],
        "plot_pattern_match": scaled,
        "plot_plan": [(planned,)],
        "plot_prior_variance": [(few,)],
        "plot_raters": rated,
        "plot_silhouette_curve": [fusion[:1]],
        "plot_stability": [(stability,)],
        "plot_training": [(deep,)],
        "plot_values": rated,
        "plot_word_map": [(worded,), crowded],
    }


@pytest.fixture(scope="module")
def hardest(plots, thorough):
    """One example of each plot, where names are many and long; all if everything is tried."""
    return {name: examples if thorough else examples[-1:] for name, examples in plots.items()}


NAMES = sorted(name for name in inspection.__all__ if name.startswith("plot_"))
SWITCHES = {
    name: [switch for switch in ("labels", "legend", "colorbar") if switch in parameters]
    for name in NAMES
    for parameters in [inspect.signature(getattr(inspection, name)).parameters]
}


def drawn(plots, name, **options):
    """Draw each example of a plot on a figure of its own; yield the axes that it returns, as a list."""
    for arguments in plots[name][:3]:
        plt.close("all")
        found = getattr(inspection, name)(*arguments, **options)
        yield found if isinstance(found, list) else [found]


def texts_of(artist):
    """All visible texts that are not empty."""
    return [
        text
        for text in artist.findobj(lambda each: hasattr(each, "get_text") and hasattr(each, "get_fontsize"))
        if text.get_visible() and text.get_text().strip()
    ]


def pixels():
    figure = plt.gcf()
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)


def overlap(one, other, by=1.0):
    """Whether two boxes overlap by more than so many pixels in both directions."""
    return min(one.x1, other.x1) - max(one.x0, other.x0) > by and min(one.y1, other.y1) - max(one.y0, other.y0) > by


def tick_labels(ax):
    """Names along each axis, as they are after drawing."""
    for axis in (ax.xaxis, ax.yaxis):
        for minor in (False, True):
            low, high = sorted(axis.get_view_interval())
            places, labels = axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor)
            yield [
                text
                for place, text in zip(places, labels, strict=False)
                if low <= place <= high and text.get_visible() and text.get_text()
            ]


def test_every_plot_is_tried(plots):
    assert sorted(plots) == NAMES


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 0))
def test_drawn_on_the_current_axes_and_seen(hardest, name):
    for arguments in hardest[name]:
        plt.close("all")
        _, (first, second) = plt.subplots(1, 2)
        plt.sca(first)
        found = getattr(inspection, name)(*arguments)
        assert plt.gca() is first
        assert isinstance(found, list) or found is first
        assert not second.has_data()
        halves = np.split(pixels(), 2, axis=1)
        assert (halves[0] != 255).any(axis=2).mean() > 0.01
        assert plt.get_fignums() == [1]


def test_a_second_picture_is_not_drawn_on_the_first(plots):
    plt.close("all")
    for name in ("plot_co_occurrence", "plot_dendrogram"):
        getattr(inspection, name)(*plots[name][0])
    assert plt.get_fignums() == [1, 2]
    plt.figure()
    inspection.plot_dendrogram(*plots["plot_dendrogram"][0])
    assert plt.get_fignums() == [1, 2, 3]


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 1))
def test_axes_given_are_drawn_on_and_nothing_else(hardest, name):
    for arguments in hardest[name]:
        figure = Figure(figsize=(9, 4))
        mine, other = figure.subplots(1, 2)
        before = other.get_position().bounds
        found = getattr(inspection, name)(*arguments, ax=mine)
        assert found is mine or (isinstance(found, list) and {ax.figure for ax in found} == {figure})
        figure.draw_without_rendering()
        assert other.get_position().bounds == before
        assert not other.get_children()[0].get_children()
        assert not other.has_data()
        assert figure.get_layout_engine() is None
        edge = before[0] * figure.bbox.width
        assert all(ax.get_tightbbox().x1 <= edge for ax in figure.axes if ax is not other)
        assert not plt.get_fignums()


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 2))
def test_an_empty_subfigure_is_drawn_on(plots, name):
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    found = getattr(inspection, name)(*plots[name][0], ax=left)
    figure.draw_without_rendering()
    axes = found if isinstance(found, list) else [found]
    assert {ax.get_figure(root=False) for ax in axes} == {left}
    assert not right.axes


@pytest.mark.parametrize(
    ("name", "before"),
    [
        pytest.param(name, before, marks=() if place % 2 == before else pytest.mark.slow)
        for place, name in enumerate(NAMES)
        for before in (True, False)
    ],
)
def test_a_title_collides_with_nothing(hardest, name, before):
    for arguments in hardest[name][:3]:
        plt.close("all")
        if before:
            plt.title("A title")
        getattr(inspection, name)(*arguments)
        if not before:
            plt.title("A title")
        figure, ax = plt.gcf(), plt.gca()
        figure.draw_without_rendering()
        assert ax.get_title() == "A title"
        box = ax.title.get_window_extent()
        others = [text for text in texts_of(figure) if text is not ax.title]
        assert not [text.get_text() for text in others if overlap(box, text.get_window_extent())]
        assert not [each for each in figure.axes if overlap(box, each.bbox) and each.axison]
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 3))
def test_text_can_be_read_on_dark_paper(hardest, name):
    with plt.style.context("dark_background"):
        for _ in drawn(hardest, name):
            figure = plt.gcf()
            shown = pixels()
            inside = {id(text) for ax in figure.axes if ax.images for text in ax.texts}  # of cells, on their colours
            outside = [text for text in texts_of(figure) if id(text) not in inside]
            assert not [text.get_text() for text in outside if np.mean(to_rgb(text.get_color())) < 0.45]
            assert shown.max() > 180
            assert (shown.mean(axis=2) < 128).mean() > 0.3  # background, and heat maps that are not bright


@pytest.mark.parametrize("size", [(6.4, 4.8), (3, 2)])
@pytest.mark.parametrize("name", quick_in_turn(NAMES, 5))
def test_names_neither_cover_each_other_nor_are_cut_off(hardest, name, size):
    for arguments in hardest[name]:
        plt.close("all")
        plt.figure(figsize=size)
        getattr(inspection, name)(*arguments)
        figure = plt.gcf()
        figure.draw_without_rendering()
        paper = figure.bbox
        for ax in [*figure.axes, *(child for each in figure.axes for child in each.child_axes)]:
            for texts in tick_labels(ax):
                boxes = [text.get_window_extent() for text in texts]
                assert not [a for a, b in pairwise(boxes) if overlap(a, b)], [text.get_text() for text in texts]
                assert all(box.x0 >= -1 and box.y0 >= -1 and box.x1 <= paper.x1 + 1 for box in boxes)
            named = [Text.get_window_extent(text) for text in ax.texts if text.get_visible()]  # without their lines
            assert not any(overlap(a, b) for place, a in enumerate(named) for b in named[:place])


@pytest.mark.parametrize("name", quick_in_turn(SWITCHES, 6))
def test_labels_legend_and_colour_bar_can_be_left_out(plots, name, subsets, thorough):
    def count(switch):
        axes = [*plt.gcf().axes, *(child for ax in plt.gcf().axes for child in ax.child_axes)]
        if switch == "legend":
            return sum(ax.get_legend() is not None for ax in axes)
        if switch == "colorbar":
            return sum(hasattr(ax, "_colorbar") for ax in axes)
        lines = [line for ax in plt.gcf().axes for line in (ax.get_xlabel() + "\n" + ax.get_ylabel()).splitlines()]
        return len([line for line in lines if line.strip() and not line.endswith(("not grouped", "at random"))])

    def shown(example, **options):
        for _ in drawn({name: [example]}, name, **options):
            plt.gcf().draw_without_rendering()
        return {switch for switch in SWITCHES[name] if count(switch)}

    examples = plots[name][:3]
    if name == "plot_co_occurrence":
        examples = [*examples, subsets[:1]]  # some pairs that nobody saw together
    never, having = set(SWITCHES[name]), []
    for example in examples:
        if never or thorough:
            seen = shown(example)
            having += [example] if seen & never or thorough else []
            never -= seen
    assert not never
    for example in having:
        assert not shown(example, **dict.fromkeys(SWITCHES[name], False))


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 4))
def test_without_labels_no_name_is_written_on_a_figure_that_is_made(hardest, name):
    for axes in drawn(hardest, name, labels=False):
        assert plt.get_fignums() == [1]  # made for it, as there was none
        assert {ax.figure for ax in axes} == {plt.gcf()}
        plt.gcf().draw_without_rendering()
        for ax in plt.gcf().axes:
            written = " ".join(text.get_text() for texts in tick_labels(ax) for text in texts)
            assert not any(letter.isalpha() for letter in written.replace("mathdefault", ""))
            assert ax.images or not [text for text in ax.texts if text.get_visible()]


def test_many_panels_leave_a_title_for_all(plots):
    for name in ("plot_confusion", "plot_training"):
        plt.close("all")
        panels = getattr(inspection, name)(*plots[name][0])
        assert plt.gca() not in panels
        plt.title("All of them")
        plt.gcf().draw_without_rendering()
        top = max(ax.get_tightbbox().y1 for ax in panels)
        assert plt.gca().title.get_window_extent().y0 >= top - 1


@pytest.mark.slow
def test_tight_layout_goes_on_as_in_pyplot(plots):
    for name in NAMES:
        next(drawn(plots, name))
        plt.tight_layout()  # a warning would be an error
        plt.gcf().draw_without_rendering()


def test_names_that_end_apart_are_cut_in_their_middle(crowded):
    ax = inspection.plot_dendrogram(crowded[0], crowded[1], max_items=200)
    ax.figure.draw_without_rendering()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == len(set(names)) > 50
    assert {name[:8] for name in names} == {"a rather"}


def test_the_size_of_the_font_is_that_of_the_style(fusion):
    with plt.rc_context({"font.size": 20}):
        ax = inspection.plot_co_occurrence(fusion[0])
        ax.figure.draw_without_rendering()
        assert {text.get_fontsize() for text in ax.get_yticklabels()} == {16}


@pytest.mark.slow
def test_no_figure_stays_open(sorts, named):
    report(*named)
    SubsetFusion(random_state=0).fit(sorts[1])
    assert not plt.get_fignums()


@pytest.mark.slow
def test_a_report_looks_the_same_in_any_style_and_leaves_no_figure_open(sorts, sorts_drawn):
    with plt.style.context(["dark_background", {"font.size": 20}]):
        assert draw(*sorts) == sorts_drawn
    assert not plt.get_fignums()


def test_pyplot_and_jax_are_not_imported_before_they_are_needed():
    code = (
        "import sys, consilience, consilience.inspection, consilience.cli\n"
        "from consilience.semisupervised import PartitionLabelModel\n"
        "sorts = [['p', 'x'], ['p', 'x'], ['q', 'y'], ['q', 'y']]\n"
        "model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)\n"
        "consilience.inspection.report(model, sorts, certainty=None)\n"
        "sys.exit('matplotlib.pyplot' in sys.modules or 'jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["plot_co_occurrence", "plot_dendrogram", "plot_item_map"])
def test_annotations_alone_are_drawn(name, sorts):
    plot, annotations = getattr(inspection, name), sorts[1]
    with pytest.warns(AnnotationWarning, match="share hardly any labels"):
        labels = Labels.from_matrix(annotations.to_matrix().to_numpy(), items=annotations.items, exact=True)
    assert plot(annotations, ax=Figure()).has_data()
    assert plot(labels, ax=Figure()).has_data()
    assert plot(annotations.to_pairs(), ax=Figure()).has_data()
