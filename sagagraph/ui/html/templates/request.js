// A change of a field is sent at once; what is being typed, and where, survives that the fields are drawn anew.
let at = "", typed = null, later = null, sent = null, isTouched = false
const named = name => element.querySelector(`[name="${CSS.escape(name)}"]`)
const send = (field, value) => { typed = null; sent = value; trigger("submit", { field, value }) }
// Nothing but the keys of whoever is in a field changes it: a half-typed day reads as empty, so its value cannot tell.
const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")
const hold = box => {
  box.value = box.value  // from now on, its attribute is only its default
  Object.defineProperty(box, "value", { configurable: true, get: own.get, set: () => {} })
}
const release = box => {
  delete box.value
  if (!isTouched) drawn(box)
}
element.addEventListener("focusin", event => {
  at = event.target.name || ""
  isTouched = false
  if (event.target.matches("input:not([type=checkbox])")) hold(event.target)
})
element.addEventListener("input", event => {
  isTouched = true
  if (event.target.type === "text") typed = [event.target.name, event.target.value]
})
element.addEventListener("change", event => {
  const box = event.target
  if (!box.name) return
  const change = () => { later = null; send(box.name, box.type === "checkbox" ? (box.checked ? "yes" : "") : box.value) }
  if (later) clearTimeout(later.timer)
  // Days and hours change with every digit: they are sent once nothing more is typed, or the field is left.
  if (box === document.activeElement && (box.type === "date" || box.type === "time")) later = { change, timer: setTimeout(change, 900) }
  else change()
})
element.addEventListener("focusout", event => {
  if (later) { clearTimeout(later.timer); later.change() }
  if (Object.hasOwn(event.target, "value")) release(event.target)
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
// Gradio changes what differs from what it drew before: what somebody has typed since, and what was refused, is set here.
const drawn = box => {
  if (box === document.activeElement || (typed && typed[0] === box.name)) return
  if (box.tagName === "SELECT") box.selectedIndex = Math.max(0, [...box.options].findIndex(each => each.defaultSelected))
  else if (box.type === "checkbox") box.checked = box.defaultChecked
  else box.value = box.defaultValue
}
watch("value", () => {
  const held = document.activeElement
  if (Object.hasOwn(held, "value") && held.name !== at) held.blur()  // Gradio has made another field of it
  if (at && named(at)?.value === sent) isTouched = false  // it is answered: once it is left, it shows what stands
  element.querySelectorAll("input, select").forEach(drawn)
  const box = at && named(at)
  if (!box || (document.activeElement && document.activeElement !== document.body)) return
  if (typed && typed[0] === at) box.value = typed[1]
  box.focus({ preventScroll: true })
})
