"""Pictures: pure functions from a plan or a state to Plotly figures. Nothing is fetched: maps are drawn on plain axes."""
