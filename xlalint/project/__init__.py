"""What a run reads: the files, the settings that hold for them, suppressions, and the cache of earlier runs."""
