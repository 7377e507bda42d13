"""A participant's way through a study: its steps, its pages, and what they send."""
