"""Pure functions from state to Plotly figures. Nothing in them is fetched: maps are drawn on plain axes."""
