// What was clicked shows that it is at work, until the next page is there or this one is shown again.
const starts = element => element?.setAttribute("aria-busy", "true")
addEventListener("submit", event => starts(event.submitter))
addEventListener("click", event => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) starts(event.target.closest("a.sg-button")) })
addEventListener("pageshow", () => document.querySelectorAll("[aria-busy]").forEach(each => each.removeAttribute("aria-busy")))
