"""What all stages share: implementations, targets, calls, records, and the words for failures."""
