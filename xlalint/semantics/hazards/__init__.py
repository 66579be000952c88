"""What is held against an expression: hazards of APIs by the catalogue, and uses of tensors that no catalogue lists."""
