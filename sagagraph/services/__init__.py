"""Services: ready-made actions for payments, calendars, mail, databases and others (docs/services/README.md)."""

from sagagraph.services.service import Account, Opened, Service

__all__ = ["Account", "Opened", "Service"]
