"""Pictures: pure functions from a plan or a state to HTML and SVG, in the colours of the style. Nothing is fetched."""
