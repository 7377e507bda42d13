"""Studies that people judge, and simulated judges, for tests: they answer through the store as the server does."""

import time

import numpy as np

from consilience.collect.creation import demo
from consilience.collect.creation.judging import judge_consensus, judge_table
from consilience.collect.worker import Worker

from .collecting import begun, takes_part

ANIMALS = {
    "birds": ["robin", "sparrow", "eagle", "owl", "gull", "crow", "heron"],
    "fish": ["salmon", "trout", "shark", "eel", "cod", "carp"],
    "insects": ["ant", "bee", "wasp", "moth", "fly", "beetle", "cricket"],
}
TABLE = "text,cluster\n" + "".join(f"{name},{kind}\n" for kind, names in ANIMALS.items() for name in names)
COPIED = {"parameters": ("PID",), "language": "de"}


def judged_animals(store, *, opened=True, **settings):
    """Return a study in which three clusters of animals are judged."""
    study, _ = judge_table(store, "Animals", TABLE, settings=settings)
    return store.open_study(study.id) if opened else study


def judged_sort(store, n_people=4, *, opened=True, of=None, **settings):
    """Return a study of items that people sorted by a rule, and one in which its consensus is judged."""
    source = begun(store, **({"parameters": ("PID",)} | (of or {})))
    for number in range(n_people):
        takes_part(store, source, seed=number, parameters={"PID": f"sorter{number}"})
    Worker(store).run()
    while store.at_work(source.id):  # the worker of a server may be at it
        time.sleep(0.01)
    study = judge_consensus(store, source, settings=settings)
    return source, store.open_study(study.id) if opened else study


def judged_digits(store):
    """Return a study in which pictures of digits are judged."""
    source = demo.make(store)
    clusters = {item.name: f"digit {digit}" for item, digit in zip(store.items(source.id), demo.digits(), strict=True)}
    return store.open_study(judge_consensus(store, source, clusters=clusters).id)


def odd_place(store, study, asked):
    """Return the place of the card that does not belong, from 1, as a judge sees it."""
    return asked.shown.index(store.odd_questions(study.id)[asked.question].odd) + 1


def ask_judges(store, study, n_judges, *, seed=0, knows=0.8, guessers=1, **options):
    """Let judges answer all that they are asked; the first ones are right one time in four. Return their ids."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n_judges):
        person, _ = store.new_participant(study.id, **options)
        found.append(person.id)
        asked = store.ask(person.id)
        while asked is not None:
            odd = odd_place(store, study, asked)
            if number < guessers:
                place = odd if asked.place % 4 == 0 else odd % 4 + 1
            else:
                place = odd if rng.random() < knows else int(rng.integers(1, 5))
            asked = store.answer(person.id, asked.question, place)
    return found
