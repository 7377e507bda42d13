"""The pages of the administration and their forms."""
