"""The worker in the background: it composes subsets and keeps the findings up to date."""

from consilience.collect.worker.worker import Worker as Worker
