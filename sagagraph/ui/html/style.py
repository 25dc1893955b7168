"""The style of the pages, on the variables of Gradio's theme: bright, dark and narrow."""

from __future__ import annotations

from typing import Final

CSS: Final = """
.gradio-container { max-width: 1280px !important; width: 100%; margin: 0 auto; padding: 8px !important; }
.gradio-container .tabs, .gradio-container .tabitem { width: 100%; }
.gradio-container [data-testid="block-info"] { background: none; padding: 0; font-weight: 500;
  color: var(--body-text-color); opacity: .8; }
.gradio-container .html-container { padding: 0; }
.gradio-container .label-wrap > span { text-align: left; }
.gradio-container .js-plotly-plot svg text { fill: var(--body-text-color) !important; }
.sg-kept { display: none !important; }
.sg-columns { align-items: flex-start; }
.sg-card { border: 1px solid var(--border-color-primary); border-radius: 10px; padding: 10px 12px; margin: 2px 0 6px;
  background: var(--background-fill-primary); overflow-wrap: anywhere; }
.sg-card ul { margin: 4px 0; padding-left: 18px; list-style: disc; }
.sg-card ul.sg-lines { list-style: none; padding-left: 0; }
.sg-lines li { padding: 5px 0; border-top: 1px solid var(--border-color-primary); line-height: 1.3; }
.sg-right { float: right; margin-left: 8px; font-variant-numeric: tabular-nums; }
.sg-price { display: flex; gap: 10px; align-items: baseline; flex-wrap: wrap; padding-bottom: 6px; }
.sg-price b { font-size: 1.25em; }
.sg-row { display: flex; gap: 8px; align-items: center; justify-content: space-between; flex-wrap: wrap; }
.sg-row code { font-size: .72em; opacity: .7; overflow-wrap: anywhere; }
.sg-card progress { width: 100%; height: 8px; margin-top: 8px; }
.sg-muted { opacity: .7; }
.sg-problem { margin-top: 8px; padding: 6px 8px; border-left: 3px solid #e5534b; }
.sg-badge { display: inline-block; white-space: nowrap; border-radius: 999px; padding: 2px 10px; font-size: .85em;
  font-weight: 600; color: #fff; background: #6e7681; }
.sg-badge.sg-busy { background: #2f6fdb; } .sg-badge.sg-good { background: #23803a; }
.sg-badge.sg-asking { background: #9a6b0a; } .sg-badge.sg-bad { background: #c43d35; }
.sg-left { justify-content: flex-start; } .sg-link { text-decoration: underline; }
.sg-scroll { overflow-x: auto; } .sg-scroll pre { max-width: 70vw; max-height: 50vh; overflow: auto; font-size: .9em; }
.sg-scroll table, .sg-scroll tr, .sg-scroll thead { border: none !important; }
.sg-scroll table { width: 100%; border-collapse: collapse; font-size: .86em; }
.sg-scroll th, .sg-scroll td { text-align: left; padding: 4px 8px; border: none !important;
  border-bottom: 1px solid var(--border-color-primary) !important;
  vertical-align: top; }
.sg-scroll th, .sg-scroll .sg-moment { white-space: nowrap; }
.sg-scroll td { min-width: 4.5em; max-width: 34em; overflow-wrap: anywhere; }
#saga-list td:first-child { min-width: 15em; }
.sg-scroll td code { display: block; font-size: .82em; opacity: .7; }
.sg-tight { gap: 6px !important; }
.sg-wish { gap: 4px !important; align-items: stretch; flex-wrap: nowrap !important; }
.sg-wish .input-container, .sg-wish textarea, .sg-wish input { height: 36px !important; }
.sg-wish button { height: 36px; padding: 0; }
#domain .wrap { flex-wrap: nowrap; } #domain label { white-space: nowrap; } #domain { flex: 1 1 auto; }
#anew { flex: 0 0 auto; min-height: 36px; padding-inline: 12px; }
#chat .message { overflow-wrap: anywhere; }
#chat .message p, #chat .message span { white-space: pre-wrap; }
#chat .icon-button-wrapper { display: none !important; }
.sg-wish input, .sg-wish textarea { padding-block: 7px !important; border: 1px solid var(--border-color-primary) !important; }
.sg-lines small { display: block; opacity: .8; }
footer { display: none !important; }
@media (max-width: 640px) {
  .sg-card { margin-inline: 0; }
  #chat { min-height: 260px; }
  .sg-scroll, #files { max-width: calc(100vw - 40px); }
  #pictures .tab-container button { padding-inline: 8px !important; }
  #wishes > div:last-child { max-height: 214px; overflow-y: auto; }
}
"""

HEAD: Final = """<style>
@media (max-width: 640px) {
  .gradio-container.gradio-container { padding: 0 !important; }
  .gradio-container .main.fillable.app { padding: 8px !important; }
}
</style>"""
"""For what stands around Gradio's own page: it lets `CSS` reach only what is inside."""
