"""What `recompute.py` computes each number of a report from: a file for each paper, and what they share."""
