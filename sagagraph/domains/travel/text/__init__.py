"""Text: reads a trip from a sentence, by rules alone: what is missing or ambiguous is asked for, never guessed."""
