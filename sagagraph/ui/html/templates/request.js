// A change of a field is sent at once; what is being typed, and where, survives that the fields are drawn anew.
let at = "", typed = null
const named = name => element.querySelector(`[name="${CSS.escape(name)}"]`)
const send = (field, value) => { typed = null; trigger("submit", { field, value }) }
element.addEventListener("focusin", event => { at = event.target.name || "" })
element.addEventListener("input", event => { if (event.target.type === "text") typed = [event.target.name, event.target.value] })
element.addEventListener("change", event => {
  const box = event.target
  if (box.name) send(box.name, box.type === "checkbox" ? (box.checked ? "yes" : "") : box.value)
})
element.addEventListener("click", event => {
  const other = event.target.closest(".sg-other")
  if (other) send(other.dataset.field, other.dataset.value)
  const drop = event.target.closest(".sg-drop"), step = event.target.closest("[data-by]")
  if (drop) send(drop.name, "")
  if (!step) return
  const box = step.parentElement.querySelector("input")
  box.value = Math.min(box.max, Math.max(box.min, Number(box.value) + Number(step.dataset.by)))
  at = box.name
  send(box.name, box.value)
})
watch("value", () => {
  const box = at && named(at)
  if (!box || (document.activeElement && document.activeElement !== document.body)) return
  if (typed && typed[0] === at) box.value = typed[1]
  box.focus({ preventScroll: true })
})
