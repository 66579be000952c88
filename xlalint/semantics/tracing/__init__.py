"""Which functions something compiles, and as what: decorators, wrappers, inherited methods."""
