"""The history page: a visitor's sagas and all records about them."""
