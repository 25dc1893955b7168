"""What can be read where: on a phone nothing sticks out, and texts stand out from their background, bright and dark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.conftest import OpenVisit
from tests.ui.page import THANKSGIVING
from tests.ui.server import Server

PHONE = {"width": 390, "height": 844}
PICTURES = {"Where": "#route", "When": "#timeline"}
READABLE = 4.5
"""WCAG 2, level AA."""

FAINT_TEXTS = """(least) => {
  const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number)
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((c, n) => c * a + under[n] * (1 - a))
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const above = el => { const all = []; for (; el; el = el.parentElement) all.push(el); return all }
  const ground = el => above(el).reverse().reduce((c, each) => {
    const own = numbers(getComputedStyle(each).backgroundColor)
    return own.length === 4 && own[3] === 0 ? c : over(own, c)
  }, [255, 255, 255])
  const faint = []
  const texts = '.sg-picture *, .sg-card *, .sg-scroll *, .sg-muted, #chat .message *, [data-testid="block-info"]'
  for (const el of document.querySelectorAll(texts)) {
    const said = [...el.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join('').trim()
    const words = el.tagName === 'text' ? el.textContent.trim() : said
    const box = el.getBoundingClientRect()
    if (!words || !box.width || !box.height) continue
    const style = getComputedStyle(el), under = ground(el)
    const ink = numbers(el instanceof SVGElement ? style.fill : style.color)
    const opacity = above(el).reduce((o, each) => o * Number(getComputedStyle(each).opacity), 1)
    const seen = over([...ink.slice(0, 3), (ink[3] ?? 1) * opacity], under)
    const [dark, bright] = [light(seen), light(under)].sort((a, b) => a - b)
    const contrast = (bright + 0.05) / (dark + 0.05)
    if (contrast < least) faint.push([words.slice(0, 30), Math.round(contrast * 100) / 100])
  }
  return faint
}"""

ON_TOP_OF_EACH_OTHER = """(where) => {
  const boxes = [...document.querySelectorAll(where + ' span, ' + where + ' li')]
    .map(el => [el.textContent.trim(), el.getBoundingClientRect()])
    .filter(([words, box]) => words && box.width)
  const common = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from])
  const meet = (a, b) => common(a, b, 'left', 'right') > 2 && common(a, b, 'top', 'bottom') > 2
  return boxes.flatMap(([name, box], n) =>
    boxes.slice(n + 1).filter(([, other]) => meet(box, other)).map(([other]) => [name, other]))
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_every_tab_fits_and_can_be_read(server: Server, visit: OpenVisit, scheme: str) -> None:
    person = visit(server.url, viewport=PHONE, color_scheme=scheme)
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say(THANKSGIVING)
    person.until_asked()
    found: dict[str, Any] = {}

    def look(at: str) -> None:
        width = person.page.evaluate("document.documentElement.scrollWidth")
        faint = person.page.evaluate(FAINT_TEXTS, READABLE)
        if width > PHONE["width"] or faint:
            found[at] = (width, faint)

    for tab, picture in PICTURES.items():
        person.tab(tab)
        person.page.locator(f"{picture} .sg-picture").wait_for()
        look(tab)
        assert person.page.evaluate(ON_TOP_OF_EACH_OTHER, picture) == [], tab
    person.open_record()
    for tab in ("Steps", "Journal", "State", "Verdicts"):
        person.tab(tab)
        look(f"Under the hood, {tab}")
    assert found == {}
    assert person.faults == []
