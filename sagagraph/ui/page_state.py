"""Page state: kept by the page itself, so that its buttons mean the same after the server restarts."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr


def kept() -> gr.Textbox:
    """Hold hidden text. It comes back from a browser, which may send anything, so whoever reads it must check it.

    `gr.State` would live in the server's memory, and would silently be empty after a restart.
    """
    return gr.Textbox(visible="hidden", show_label=False, container=False, elem_classes="sg-kept")


@dataclass(frozen=True, slots=True)
class Shown:
    """State of this browser page: what it shows, and therefore what its buttons mean, whatever has happened since.

    The page keeps it as text.
    """

    saga_id: str = ""
    plan_hash: str = ""

    @classmethod
    def in_text(cls, text: str) -> Shown:
        saga_id, _, plan_hash = text.partition(" ")
        return cls(saga_id, plan_hash)

    @property
    def text(self) -> str:
        return f"{self.saga_id} {self.plan_hash}".strip()
