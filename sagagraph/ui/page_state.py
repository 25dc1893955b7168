"""The state that a page keeps for itself, so that its buttons mean the same after the server was started again."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr


def kept() -> gr.Textbox:
    """Holds text that nobody sees. It comes back from a browser, which may send anything: whoever reads it checks it.

    `gr.State` would live in the server's memory, and be empty after a restart without a word.
    """
    return gr.Textbox(visible="hidden", show_label=False, container=False, elem_classes="sg-kept")


@dataclass(frozen=True, slots=True)
class Shown:
    """What this page of a browser shows: what its buttons mean, whatever has happened since. The page keeps it as text."""

    saga_id: str = ""
    plan_hash: str = ""

    @classmethod
    def in_text(cls, text: str) -> Shown:
        saga_id, _, plan_hash = text.partition(" ")
        return cls(saga_id, plan_hash)

    @property
    def text(self) -> str:
        return f"{self.saga_id} {self.plan_hash}".strip()
