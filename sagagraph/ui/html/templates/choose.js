element.addEventListener("click", event => {
  const chosen = event.target.closest("[data-choose]")
  if (chosen) trigger("select", { key: chosen.dataset.choose })
  if (event.target.closest(".sg-print")) print()
  const copy = event.target.closest("[data-copy]")
  if (copy) navigator.clipboard.writeText(new URL(copy.dataset.copy, location).href).then(() => { copy.textContent = "Copied" })
})
