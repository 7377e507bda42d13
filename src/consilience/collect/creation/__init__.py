"""Making studies of what people bring: cards, pictures, right answers, clusters to judge."""
