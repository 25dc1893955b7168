"""Utterance: what kind of thing somebody says, in which tongue, however it is spelled."""
