"""Agreement of clusterings with each other and with people; profiles of clusters; whether strangers see them."""

from consilience.metrics.agreement import annotator_agreement, mean_agreement, order_by_agreement
from consilience.metrics.clusterings import (
    PairScores,
    ami,
    ari,
    clustering_accuracy,
    nmi,
    pairwise_f,
    same_log_loss,
    v_measure,
)
from consilience.metrics.odd_one_out import OddOneOut, odd_one_out
from consilience.metrics.odd_one_out_questions import odd_one_out_questions
from consilience.metrics.profiles import association, cluster_profile
from consilience.metrics.reliability import Reliability, cohen_kappa, fleiss_kappa, krippendorff_alpha, split_half

__all__ = [
    "OddOneOut",
    "PairScores",
    "Reliability",
    "ami",
    "annotator_agreement",
    "ari",
    "association",
    "cluster_profile",
    "clustering_accuracy",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "mean_agreement",
    "nmi",
    "odd_one_out",
    "odd_one_out_questions",
    "order_by_agreement",
    "pairwise_f",
    "same_log_loss",
    "split_half",
    "v_measure",
]

__dir__ = __all__.copy
