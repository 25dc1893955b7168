"""HTML for both pages: cards, tables and their style. Every text in it is escaped."""
