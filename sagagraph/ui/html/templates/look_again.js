// Windows of one visitor show the same: each asks now and then whether what it shows is out of date, and then looks again.
setInterval(async () => {
  const shown = document.querySelector("#status [data-stamp]"), again = document.querySelector("#again")
  if (document.hidden || !shown || !again) return
  try {
    const answer = await fetch("stamp")
    const stamp = await answer.text()
    if (answer.ok && stamp !== shown.dataset.stamp && shown.isConnected && !shown.querySelector("progress")) again.click()
  } catch { /* the server is away: the page stays as it is */ }
}, 4000)
