"""Copies among annotators who group: who is found, how often independent people are taken for copies, and the models.

    python benchmarks/grouping_copies.py clusters
    python benchmarks/grouping_copies.py found
    python benchmarks/grouping_copies.py false-alarms
    python benchmarks/grouping_copies.py recorded
"""
