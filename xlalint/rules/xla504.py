"""XLA504: names that TensorFlow or Keras renamed or dropped."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics.environment.rename_table import Rename
from xlalint.semantics.facts import MODEL_FILE, REFUSED, RENAMED, SYMBOLIC, UNTRACKED
from xlalint.semantics.training.model_files import Misnamed


class GoneOrRenamed(Rule):
    """`tf.distribute.experimental.TPUStrategy`, `strategy.experimental_run_v2`, TPUEstimator, `COLAB_TPU_ADDR`."""

    code = "XLA504"

    def visit_Call(self, node: cst.Call) -> None:
        for fact in self.facts(node, UNTRACKED):
            self.report(node, fact, "untracked", confidence="likely", attribute=fact.detail)
        for fact in self.facts(node, SYMBOLIC):
            self.report(node, fact, "refused", confidence="certain", api=fact.detail)
        for fact in self.facts(node, MODEL_FILE):
            said: Misnamed = fact.detail
            endings = " or ".join(f"`{ending}`" for ending in said.endings)
            self.report(
                node,
                fact,
                "file-name",
                confidence="certain",
                api=said.called,
                path=said.path,
                endings=endings,
            )

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._refused(node)
        self._judge(node)

    def visit_Name(self, node: cst.Name) -> None:
        self._judge(node)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        self._judge(node)

    def visit_Arg(self, node: cst.Arg) -> None:
        self._refused(node.value)
        self._judge(node)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self._judge(node)

    def _refused(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, REFUSED):
            variant, words = fact.detail
            self.report(node, fact, variant, confidence="certain", **dict(words))

    def _judge(self, node: cst.CSTNode) -> None:
        for fact in self.facts(node, RENAMED):
            detail: Rename = fact.detail
            variant = "gone" if detail.is_gone else "renamed"
            if detail.kind == "environment":
                variant = "environment"
            elif detail.is_of_graphs:
                variant = "graphs"
            elif detail.is_of_value:
                variant = "value"
            use = detail.entry.instead or f"`{detail.spelled(detail.entry.use)}`"
            api = detail.spelled(detail.found)
            self.report(node, fact, variant, confidence="certain", api=api, use=use)
