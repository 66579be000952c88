"""Is a project ready for a TPU? The checklist that people go through by hand, judged from what the source shows (`sights.py`),
what check finds in it, and what verify has seen compile and run (`verified.py`); `checklist.py` puts them together.
"""
