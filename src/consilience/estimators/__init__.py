"""What estimators share towards users: how they read, match, check, learn and say what they found."""
