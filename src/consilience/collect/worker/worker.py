"""The background worker: composes subsets beforehand, and finds the consensus of what was submitted.

It drives the same `consilience.active.ActiveSession` as the library does, one for each study. What it has to do stands
in the database as jobs, so that nothing is lost if it stops; submissions that follow each other closely are one job.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from typing import Any, cast

import numpy as np

from consilience.collect.errors import NotFoundError
from consilience.collect.results import consensus
from consilience.collect.results.overview import overview_of
from consilience.collect.results.pairs import of_pairs
from consilience.collect.results.quality import quality_of
from consilience.collect.settings.model import JUDGING, Assignment, Study
from consilience.collect.settings.study_kinds import LABELS, PAIRS
from consilience.collect.store import Job, Prepared, Store, Submitted
from consilience.collect.store.database import now
from consilience.collect.worker.heartbeat import LOOKING, STOPPED, Doing, state_of
from consilience.collect.worker.question_session import LabelQuestions, PairQuestions
from consilience.collect.worker.study_session import StudySession, key_of
from consilience.errors import AnnotationWarning
from consilience.inference.threads import one_blas_thread

Session = StudySession | LabelQuestions | PairQuestions
AHEAD = 8  # subsets that are prepared for whoever comes next
BRIEFLY = 0.01  # seconds
POLL = 0.5  # seconds between looks for jobs
TIDY = 60.0  # seconds between looks for subsets to release and parameters to erase
SESSIONS: dict[str, type[Session]] = {LABELS: LabelQuestions, PAIRS: PairQuestions}
logger = logging.getLogger(__name__)


class Worker:
    """Does the jobs of a store, in a thread of its own (`start`), or in the caller's (`run`, `work`).

    ahead : how many subsets are prepared for whoever comes next; more than there are people who begin at the same
        moment.
    poll : seconds between looks for jobs.
    """

    def __init__(self, store: Store, *, ahead: int = AHEAD, poll: float = POLL) -> None:
        self.store = store
        self.ahead = ahead
        self.poll = poll
        self._sessions: dict[str, Session] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.doing = Doing(LOOKING, time.monotonic())

    @property
    def is_alive(self) -> bool:
        """Whether the thread of its own runs."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def state(self) -> str:
        """Whether it is "running", "stopped", or in which way it hangs; see `consilience.collect.worker.heartbeat`."""
        return state_of(self.doing) if self.is_alive else STOPPED

    def start(self) -> None:
        """Begin to work, in a thread of its own."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self.work, name="consilience-worker", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop after the job at hand."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def run(self) -> int:
        """Do all jobs, and those that follow from them; wait for those that are due soon. Return how many."""
        count = 0
        while (due := self.store.next_due()) is not None:
            time.sleep(max(0.0, (due - now()).total_seconds()))
            if self.work_once():
                count += 1
            else:  # another worker is at that study
                time.sleep(BRIEFLY)
        return count

    def work_once(self) -> bool:
        """Do the job that is due first; return whether there was one."""
        job = self.store.claim_job()
        if job is None:
            return False
        error = None
        self.doing = Doing(job.kind, time.monotonic())
        try:
            with one_blas_thread(), warnings.catch_warnings():  # products are small; threads would wait for each other
                warnings.simplefilter("ignore", AnnotationWarning)  # the dashboard says it
                self._do(job)
        except NotFoundError:  # the study was deleted in the meantime, or has other cards
            self._sessions.pop(job.study, None)
        except Exception as failure:  # the worker goes on with other studies
            logger.exception("The job %s of the study %s failed", job.kind, job.study)
            self._sessions.pop(job.study, None)  # so that the next job begins from the store
            error = f"{type(failure).__name__}: {failure}"
        except BaseException:  # this process is to end
            self.store.return_job(job)
            raise
        finally:
            self.doing = Doing(LOOKING, time.monotonic())
        self.store.finish_job(job, error)
        return True

    def work(self) -> None:
        """Do jobs as they come, until somebody stops it."""
        tidied = -TIDY
        while not self._stopping.is_set():
            self.doing = Doing(LOOKING, time.monotonic())
            try:
                if time.monotonic() - tidied > TIDY:
                    self.store.tidy()
                    tidied = time.monotonic()
                busy = self.work_once()
            except Exception:  # such as a database that is gone for a while
                logger.exception("The worker could not look for jobs")
                busy = False
            if not busy:
                self._stopping.wait(self.poll)

    def _do(self, job: Job) -> None:
        study = self.store.study(job.study)
        if study.kind == JUDGING:  # whose results are computed when they are looked at
            return
        rows = [one for one in self.store.submitted(study.id) if one.counts]
        if job.kind == "subsets":
            self._prepare(study, rows)
        elif job.kind == "overview":
            self._draw(study, rows)
        elif rows:
            self._find_consensus(study, rows)
        else:
            self.store.forget_findings(study.id)

    def _find_consensus(self, study: Study, rows: list[Submitted]) -> dict[str, Any]:
        if study.gives_labels:
            found = consensus.of_labels(self.store.labels(study.id), study, rows)
        elif study.kind == PAIRS:
            found = of_pairs(study, rows)
        else:
            session = cast(StudySession, self._in_step(study, rows)).session
            groupings = self.store.groupings(study.id)
            found = consensus.of_session(session, study, rows, groupings, self.store.consensus(study.id))
        found["quality"] = quality_of(self.store, study, found["labels"])
        self.store.put_consensus(study.id, found, [one.assignment for one in rows])
        return found

    def _draw(self, study: Study, rows: list[Submitted]) -> None:
        """Make what the dashboard shows, of the same answers as the consensus."""
        if not any(one.groups for one in rows):  # nobody could say anything
            return
        answers = consensus.fingerprint(rows)
        found = self.store.consensus(study.id)
        if found is None or found.get("answers") != answers:
            found = self._find_consensus(study, rows)
        begun = time.perf_counter()
        content = overview_of(self.store, study, rows, found)
        seconds = time.perf_counter() - begun
        self.store.put_overview(study.id, answers, content, [one.assignment for one in rows], seconds=seconds)

    def _prepare(self, study: Study, rows: list[Submitted]) -> None:
        """Prepare subsets, and compose those that were not given yet anew if enough was heard since."""
        if study.status != "open" or not study.composes_subsets:
            return
        mine = self._in_step(study, rows)
        prepared = self.store.prepared_subsets(study.id)
        old = [one for one in prepared if one.participant is None] if mine.is_stale else []
        kept = [one for one in prepared if one not in old]
        going_on = self._going_on(study)
        in_progress = [one for one, state in self.store.given_subsets(study.id) if state == "open"]
        mine.wait_for([*kept, *in_progress], going_on)
        allowed = np.full(study.n_items, True)
        if study.settings.max_per_item is not None:
            allowed = self.store.times_presented(study.id) < study.settings.max_per_item
        n_general = self.ahead - sum(one.participant is None for one in kept)
        composed = mine.compose(max(n_general, 0), self._seen(going_on, kept), allowed)
        new = [(one.items, one.source, one.participant) for one in composed]
        mine.prepared(composed, self.store.put_subsets(study.id, new, instead_of=[one.id for one in old]))

    def _going_on(self, study: Study) -> list[Assignment]:
        """Return what people are sorting who will get another subset after it, previews apart."""
        most = study.settings.per_participant
        if most == 1:
            return []
        counted = {one.id for one in self.store.participants(study.id) if not (one.preview or one.excluded)}
        return [
            one
            for one in self.store.assignments(study.id)
            if one.state == "open" and 0 < one.number < most and one.participant in counted
        ]

    def _seen(self, going_on: list[Assignment], kept: list[Prepared]) -> dict[str, list[int]]:
        """Return the items that each of these people saw, but for those who can be given a subset that is prepared."""
        people = {one.participant for one in going_on}
        seen = {
            person: [item for one in self.store.assignments_of(person) if one.number > 0 for item in one.items]
            for person in people
        }
        served = {
            one.participant
            for one in kept
            if one.participant in seen and not set(one.items).intersection(seen[one.participant])
        }
        return {person: items for person, items in seen.items() if person not in served}

    def _in_step(self, study: Study, rows: list[Submitted]) -> Session:
        """Return the session of a study, which has heard all answers."""
        found = self._sessions.get(study.id)
        if found is None or found.key != key_of(study):
            found = self._sessions[study.id] = SESSIONS.get(study.kind, StudySession)(study)
        found.hear(rows, self.store.given_subsets(study.id))
        return found
