"""Plots of fitted models and of annotations; each draws on given axes, or on those of pyplot."""
