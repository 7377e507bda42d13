"""The store of studies in a database; all SQL is here, in `tables` and in `migrations`."""

from __future__ import annotations

from consilience.collect.store.access import Access
from consilience.collect.store.access import Token as Token
from consilience.collect.store.accounts import Account as Account
from consilience.collect.store.accounts import Accounts
from consilience.collect.store.answers_table import AnswersTable
from consilience.collect.store.history import Action as Action
from consilience.collect.store.history import History
from consilience.collect.store.imports import Imports
from consilience.collect.store.invitations import Invitation as Invitation
from consilience.collect.store.invitations import Invitations
from consilience.collect.store.jobs import Job as Job
from consilience.collect.store.jobs import Jobs
from consilience.collect.store.jobs import Prepared as Prepared
from consilience.collect.store.judging_answers import JudgingAnswers
from consilience.collect.store.judging_studies import JudgingStudies
from consilience.collect.store.overviews import Overview as Overview
from consilience.collect.store.overviews import Overviews
from consilience.collect.store.panels import Consent as Consent
from consilience.collect.store.panels import Panels
from consilience.collect.store.people import People
from consilience.collect.store.people_table import PeopleTable
from consilience.collect.store.results import Results
from consilience.collect.store.results import Submitted as Submitted
from consilience.collect.store.studies import Studies
from consilience.collect.store.studies import new_picture as new_picture
from consilience.collect.store.trials import Trials
from consilience.collect.store.work import Work


class Store(
    Studies,
    People,
    PeopleTable,
    Panels,
    Work,
    Trials,
    Results,
    Imports,
    AnswersTable,
    JudgingStudies,
    JudgingAnswers,
    Jobs,
    Overviews,
    Accounts,
    Invitations,
    Access,
    History,
):
    """Studies, participants and their answers in SQLite or PostgreSQL; open it with `Store.open`.

    Its methods may be called from several threads and processes at once. They raise InputError with one sentence, or
    one of `consilience.collect.errors`: all that name a study or a participant raise NotFoundError if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.collect.store import Store
    >>> with TemporaryDirectory() as folder:
    ...     store = Store.open(f"sqlite:///{folder}/studies.db")
    ...     study = store.open_study(store.create_study("Fruit", ["apple", "pear", "nut"]).id)
    ...     participant, token = store.new_participant(study.id)
    ...     assignment = store.assignment_for(participant, np.random.default_rng(0))
    ...     state = store.record_changes(
    ...         assignment.id,
    ...         participant.id,
    ...         "tab",
    ...         [
    ...             {"sequence": 1, "kind": "move", "items": [0, 1], "group": "g1"},
    ...             {"sequence": 2, "kind": "move", "items": [2], "group": "g2"},
    ...         ],
    ...     )
    ...     _ = store.submit(assignment.id, participant.id)
    ...     groupings = store.groupings(study.id)
    ...     store.close()
    >>> state.unsorted
    ()
    >>> groupings
    Groupings(3 items, 1 annotators, 1 groupings, 2 groups, 3 memberships)
    """
