"""Rewrites: what mends a finding, how safe that is, and how it gets into the file.

A rewrite (`rewrites/`) reads one finding with the code around it (`site.py`) and proposes edits; `proposing.py` attaches
them to the findings, `fixpoint.py` applies what was asked for in passes until nothing is left to do, and `writing.py` puts
the result into the files. Nothing here runs the user's code: `proof.py` asks `verify` to do that.
"""
