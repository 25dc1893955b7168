"""Actions of a trip: bookings, the payment, the documents, and the order between them."""
