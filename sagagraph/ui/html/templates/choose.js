element.addEventListener("click", event => {
  const chosen = event.target.closest("[data-choose]")
  if (chosen) trigger("select", { plan: chosen.dataset.choose })
})
