"""`sagagraph workflow`: workflow documents, checked, translated, drafted and carried out."""
