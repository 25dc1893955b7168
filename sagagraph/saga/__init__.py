"""The transaction core: journal, pure state machine, coordinator, engine and stores."""
