"""Take one program through the stages: eager, trace, lower from shapes, run, compare, gradient, other values and shapes.

The order is the point. Running compiled code on a CPU is not a verdict: TensorFlow bakes the values of arguments into the
program and compiles again for each value, which a TPU, fed from a queue, cannot do. Lowering from shapes alone shows what a
TPU would be asked to compile.

`sequence` decides what follows what; each stage is a module, a function of the `Subject` that says what it found (`Said`)
or raises; `books` keep what they said, and `failing` makes failures with places of what they raised.
"""

from xlalint.verify.stages.sequence import verify as verify
from xlalint.verify.stages.subject import Tools as Tools
