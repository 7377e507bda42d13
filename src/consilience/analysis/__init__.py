"""What a fitted model and what people said tell together: statistics, without plots or pages."""
