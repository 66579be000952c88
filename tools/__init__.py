"""Commands for contributors; nothing here is installed with xlalint."""
