"""The chat page: the conversation, the plans, their pictures, and faults on purpose."""
