"""What was collected and found: the consensus, who is flagged, progress, exports."""
