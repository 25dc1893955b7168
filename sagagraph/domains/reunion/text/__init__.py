"""Text: what people say of a reunion, read by slots (`people`, `things`, `company`), made a problem, and put right."""
