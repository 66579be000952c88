"""Conditionals and loops: what holds in their arms, what they leave behind, and what becomes one of the graph."""
