"""The page on which things are planned: the conversation, the plans, their pictures, and faults on purpose."""
