"""Files as strangers write them, at random, and what they say by an oracle that knows nothing of the importer."""
