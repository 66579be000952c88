"""Calls that are given functions, and what runs these."""
