"""Why a group of kept elements is left as it is."""


class UnfitError(Exception):
    """There is no right way to write this over full tensors."""
