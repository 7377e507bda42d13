"""Pictures of fitted models and of what people said; each draws on axes that are given, or on those of pyplot."""
