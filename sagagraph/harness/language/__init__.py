"""Language: assertions as trees, their kinds and their units. Nothing of it is ever evaluated by Python."""
