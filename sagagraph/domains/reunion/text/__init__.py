"""Text: what people say about a reunion, read clause by clause into facts, put on its board, and corrected."""
