"""Utterance: what kind of thing somebody says, in which language, however it is spelled."""
