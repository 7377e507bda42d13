"""Settings for the whole suite."""

from hypothesis import HealthCheck, settings

# the machines are slow and shared: time is no failure
settings.register_profile("consilience", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("consilience")
