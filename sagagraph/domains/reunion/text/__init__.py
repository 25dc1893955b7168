"""Text: what people say about a reunion, read by slots (`people`, `things`, `company`), turned into a problem, and corrected."""
