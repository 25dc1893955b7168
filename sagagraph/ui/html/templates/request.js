// A change of a field is sent once no other follows it; what is being typed, and where, survives that the fields are drawn anew.
let at = "", later = null, sent = null, isTouched = false, turn = Date.now()
const kept = {}  // by the field: what is typed, or sent and not answered, and the turn that answers it
const named = name => element.querySelector(`[name="${CSS.escape(name)}"]`)
const send = (field, value) => { kept[field] = [value, ++turn]; sent = value; trigger("submit", { field, value, turn }) }
const flush = () => { const last = later; later = null; clearTimeout(last?.timer); last?.change() }
const soon = (box, change, wait) => {
  if (later?.name === box.name) clearTimeout(later.timer)
  else flush()
  later = { name: box.name, change, timer: setTimeout(() => { if (!box.validity.badInput) flush() }, wait) }
}
// Nothing but the keys of whoever is in a field changes it: a half-typed day reads as empty, so its value cannot tell.
const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")
const hold = box => {
  if (!box.validity.badInput) box.value = box.value  // from now on, its attribute is only its default
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
  if (event.target.type === "text") kept[event.target.name] = [event.target.value, Infinity]
})
element.addEventListener("change", event => {
  const box = event.target
  if (!box.name) return
  const change = () => box.validity.badInput || send(box.name, box.type === "checkbox" ? (box.checked ? "yes" : "") : box.value)
  // Days, hours and numbers change with every key: they are sent once nothing more is typed, or the field is left.
  const wait = { date: 900, time: 900, number: 400 }[box.type] || 0
  soon(box, change, box === document.activeElement ? wait : 0)
})
element.addEventListener("focusout", event => {
  const box = event.target
  flush()
  const isUnsent = kept[box.name]?.[1] === Infinity
  // The browser tells no change of a field that was drawn anew while somebody typed in it.
  if (isUnsent && box.value !== box.defaultValue) send(box.name, box.value)
  else if (isUnsent) delete kept[box.name]
  // No change is told of a day that is none, such as 31 February, nor that it is gone again.
  if (box.validity?.badInput) send(box.name, "?")
  else if (/date|time/.test(box.type) && !box.value && box.closest(".sg-is-refused")) send(box.name, "")
  if (Object.hasOwn(box, "value")) release(box)
})
element.addEventListener("click", event => {
  const other = event.target.closest(".sg-other"), drop = event.target.closest(".sg-drop"), step = event.target.closest("[data-by]")
  if (other || drop) flush()
  if (other) send(other.dataset.field, other.dataset.value)
  if (drop) send(drop.name, "")
  if (!step) return
  const box = step.parentElement.querySelector("input")
  box.value = Math.min(box.max, Math.max(box.min, Number(box.value) + Number(step.dataset.by)))
  const { name, value } = box
  at = name
  kept[name] = [value, Infinity]
  soon(box, () => send(name, value), 400)
})
// Gradio changes what differs from what it drew before: what somebody has typed since, and what was refused, is set here.
const drawn = box => {
  const mine = kept[box.name]
  if (box === document.activeElement || (box.validity.badInput && (mine || box.closest(".sg-is-refused")))) return
  if (mine && box.type !== "checkbox") box.value = mine[0]
  else if (box.tagName === "SELECT") box.selectedIndex = Math.max(0, [...box.options].findIndex(each => each.defaultSelected))
  else if (box.type === "checkbox") box.checked = mine ? mine[0] : box.defaultChecked
  else box.value = box.defaultValue
}
watch("value", () => {
  const held = document.activeElement
  if (Object.hasOwn(held, "value") && held.name !== at) held.blur()  // Gradio has made another field of it
  if (at && named(at)?.value === sent) isTouched = false  // it is answered: once it is left, it shows what stands
  for (const name in kept) if (kept[name][1] <= element.querySelector("form")?.dataset.turn) delete kept[name]
  element.querySelectorAll("input, select").forEach(drawn)
  const box = at && named(at)
  if (!box || (document.activeElement && document.activeElement !== document.body)) return
  box.focus({ preventScroll: true })
})
