"""What participants read, in their language: catalogues of gettext, and the sentences that pages are made of."""
