"""Labels: what the buttons of the page say, and what a click on a choice means in words, as it stands in the chat."""

from __future__ import annotations

from sagagraph.saga.core.amendments import parent_of
from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.differences import dated, price_change
from sagagraph.ui.pictures.comparison import choices_of
from sagagraph.ui.wording import version_words


def book_label(model: PageModel) -> str:
    """Return `Book for $650`, or a label that says that it is the plan from before what is missing now, or leaves something out;
    of a change, what it adds to the price.
    """
    shown, page = model.shown, model.page
    if shown is None or shown.plan.content is None:
        return page.go_ahead
    talk = model.conversation
    verb = f"{page.go_ahead}{' as planned before' if talk.draft.questions else ' without this' if talk.is_open else ''}"
    if model.before is not None and (shown.plan.version or parent_of(shown.id) is not None):
        more = price_change(page, (model.before.plan, model.before.cost), (shown.plan.content, shown.plan.cost))
        due = more.partition(", ")[2] or more
        return f"{verb} the change{f': {due}' if due else ''}"
    price = page.price(shown.plan.content, shown.plan.cost)
    return f"{verb}{f' for {price}' if price else ''}"


def discard_label(model: PageModel) -> str:
    has_begun = model.saga is not None and (model.saga.plan.version or model.saga.amending is not None)
    return "Keep it as it was: this change is dropped" if has_begun else "Discard this plan: nothing is booked"


def cancel_label(model: PageModel) -> str:
    is_planning = model.saga is not None and not model.saga.plan.version
    return "Stop planning…" if is_planning else "Cancel… (you first see what that undoes, and the fees)"


def choice_in_words(model: PageModel, kind: str, which: str) -> str:
    """Return what a click on a plan, a remedy, an earlier version or a disruption says; empty if that is not there any more."""
    number = int(which) if which.isdecimal() else -1
    if kind == "plan" and model.shown is not None:
        choices = choices_of(model.shown, model.page)
        return next((f"Plan {each.number}: {each.told}" for each in choices if each.hash == which), "")
    if kind == "remedy" and 0 <= number < len(model.remedies):
        return dated(model.remedies[number].label)
    if kind == "disruption" and model.saga is not None:
        return next((each.words for each in model.page.disruptions(model.saga) if each.key == which), "")
    version = next((each for each in model.versions if each.number == number), None)
    if kind == "version" and version is not None and model.saga is not None:
        return f"Back to: {version_words(model.page, version, model.saga)}"
    return ""
