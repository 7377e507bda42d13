"""Tags: several labels an item and annotator, of which those not given are answers, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.annotations.labels import Labels
from consilience.annotations.names import is_no_tag

Codes = Int[np.ndarray, " rows"]


@dataclass(frozen=True)
class TagSets:
    """The tags of each item and annotator.

    tags : the classes of the labels but "(no tag)", in their order.
    seen : csr_array of float, shape (n_items, n_annotators); 1 where an annotator gave an item tags, or said that it
        has none; other annotators did not see the item.
    item, annotator, tag : codes of each tag given.
    """

    tags: pd.Index
    seen: csr_array
    item: Codes
    annotator: Codes
    tag: Codes

    @classmethod
    def of(cls, labels: Labels) -> TagSets:
        """Read labels as tags.

        Examples
        --------
        >>> said = ["red", "big", "(no tag)"]
        >>> frame = pd.DataFrame({"item": ["ant", "ant", "bee"], "annotator": "Ann", "label": said})
        >>> sets = TagSets.of(Labels.from_frame(frame))
        >>> sets.tags.tolist(), sets.seen.toarray().ravel().tolist(), sets.tag.tolist()
        (['big', 'red'], [1.0, 1.0], [0, 1])
        """
        cells = np.unique(labels.item * labels.n_annotators + labels.annotator)
        places = np.divmod(cells, max(labels.n_annotators, 1))
        seen = csr_array((np.ones(len(cells)), places), shape=(labels.n_items, labels.n_annotators))
        place = place_of_tags(labels.classes)
        tag = place[labels.label]
        given = tag >= 0
        tags = labels.classes[place >= 0]
        return cls(tags, seen, labels.item[given], labels.annotator[given], tag[given])


def place_of_tags(classes: pd.Index) -> Int[np.ndarray, " classes"]:
    """Return the place of each class among the tags, -1 for "(no tag)".

    Examples
    --------
    >>> place_of_tags(pd.Index(["(no tag)", "big", "red"]))
    array([-1,  0,  1])
    """
    is_tag = np.array([not is_no_tag(name) for name in classes], dtype=bool)
    return np.where(is_tag, np.cumsum(is_tag) - 1, -1)
