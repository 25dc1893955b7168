"""Amazon States Language: documents as state machines, and state machines as documents (ALAS appendix A.4). Pure."""
