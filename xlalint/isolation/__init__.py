"""Child processes that may crash, hang, eat memory or leave processes behind, and what they report of their work.

Knows nothing of TensorFlow or TPUs: `xlalint.verify` and `xlalint.tpu` both work in such children. `sandbox.run` is the parent's
entry, `channel.Channel` the child's, `child.py` how a child begins.
"""
