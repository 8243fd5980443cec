"""Hits and evidence in, scores and verdicts out.

``measures`` names what is counted, ``context`` is what a reader gets, ``coverage`` what it holds of the evidence,
``metrics`` the scores; ``sampling``, ``confidence``, ``significance`` and ``power`` carry ``statistics``, the verdict.
"""

from faircut.evaluation.confidence import Estimate, Interval, mean_interval
from faircut.evaluation.context import Passage, passage
from faircut.evaluation.measures import MEASURES, Cut, Measure, parse_measure
from faircut.evaluation.metrics import ScoreTable, score
from faircut.evaluation.power import PlannedPower, plan_power
from faircut.evaluation.sampling import document_of
from faircut.evaluation.statistics import Contrast, compare, compare_pairs

__all__ = [
    "MEASURES",
    "Contrast",
    "Cut",
    "Estimate",
    "Interval",
    "Measure",
    "Passage",
    "PlannedPower",
    "ScoreTable",
    "compare",
    "compare_pairs",
    "document_of",
    "mean_interval",
    "parse_measure",
    "passage",
    "plan_power",
    "score",
]
