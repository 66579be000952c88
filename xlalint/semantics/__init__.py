"""What the source means: names, classes, regions and values. Knows nothing of rules, libcst or printing."""
