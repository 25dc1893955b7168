"""The page of all that was done: a visitor's sagas and everything that is on record of them."""
