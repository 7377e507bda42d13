"""Sites whose data may not move: each sends which of its items belong together, and one clustering is made of that."""

from consilience.sites.fusing import FusedSites, fuse_sites
from consilience.sites.summarising import summarise_site
from consilience.sites.summary import SiteSummary, read_summary, write_summary

__all__ = ["FusedSites", "SiteSummary", "fuse_sites", "read_summary", "summarise_site", "write_summary"]

__dir__ = __all__.copy
