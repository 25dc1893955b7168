"""The history page: a visitor's sagas and everything that is on record about them."""
