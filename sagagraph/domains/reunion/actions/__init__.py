"""Actions of a reunion: parts of the day, invitations, the outbox."""
