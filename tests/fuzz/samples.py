"""Samples: what each reader is made for. Plans are in `samples.json`, as the commands that plan print them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sagagraph.domains.recipes.request import shipped

_PLANS: dict[str, Any] = json.loads(Path(__file__).with_name("samples.json").read_text())
ITINERARY, REUNION_PLAN = _PLANS["itinerary"], _PLANS["reunion plan"]
SHOP_PLAN, MEAL_PLAN = _PLANS["shop plan"], _PLANS["meal plan"]

SHOP = "3 2\n0 3 1 2\n1 2 0 4\n0 1 1 3\n"
SHOP_IN_JSON = json.dumps(
    {
        "num_jobs": 2,
        "num_machines": 2,
        "processing_times": [
            [{"operation": 1, "machine": 1, "processing_time": 3}],
            [{"operation": 1, "machine": 2, "processing_time": 3}],
        ],
    }
)
EVENTS_OF_SHOP = [
    {"event": "machine_down", "at": 2, "machine": 1, "until": 5},
    {"event": "duration", "at": 3, "job": 1, "step": 2, "minutes": 4},
]
MEAL = [shipped("Lentil-Soup"), shipped("Flatbread")]
EVENTS_OF_DAY = [
    {"event": "delayed", "at": "12:00", "person": "Emily", "from": "15:30"},
    {"event": "travel_factor", "at": "13:00", "place": "BOS", "factor": 2, "until": "15:00"},
    {"event": "road_closed", "at": "13:00", "from": "HOME", "to": "BOS"},
    {"event": "may_reroute", "at": "13:30", "vehicle": "car", "minutes_left": {"HOME": 20}},
    {"event": "added", "at": "12:30", "person": {"name": "Ann", "place": "NY", "drives": True}},
]
ANSWERS: list[Any] = [
    {"id": "sandbox-1"},
    {"now": "2025-03-01T09:00:00Z"},
    {"dedup_seconds": 86400, "void": True, "deadline": True, "refusals_final": True},
    {
        "cities": [
            {
                "name": "Berlin",
                "country": "Germany",
                "airport": "BER",
                "timezone": "Europe/Berlin",
                "latitude": 52.4,
                "longitude": 13.5,
            }
        ]
    },
    {"base": "EUR", "on": "2025-02-28", "source": "a table", "rates": {"USD": "1.0411"}},
    {"reservations": [], "payments": [], "cancellations": [], "refunds": []},
    {"error": {"code": "sold_out", "message": "no rooms left"}},
    ITINERARY,
]

TRIP_TEXTS = [
    "From San Francisco to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
    "two of us fly from Boston to Paris on 4 June 2025 for three nights, then by train to Amsterdam, direct flights, one room",
    "is the hotel in Paris cancelled? If so, 5 nights in Nice instead. Leave after 10 am and no more than 1,200 euros a person",
]
RECIPE_TEXTS = [
    "Stew\nChop the onions (5 min)\nFry them within 2 min of step 1 (10 min, alone)\n3. Bake it at 350 F (1 hour, in one go)",
    "Soup\n1. Boil water (10 min)\n2. Add lentils (20 min, by hand)\n\nBread\nKnead the dough (10 min)\nBake the bread (40 min)",
]
MODEL_ANSWERS: list[Any] = [
    {"kind": "wish", "topic": None, "wish": "4 nights in Berlin"},
    {"kind": "question", "topic": "price", "wish": ""},
    {
        "slots": [
            {"field": "stay", "value": "Berlin", "nights": 4, "quote": "Berlin for 4 nights"},
            {"field": "budget", "value": "5000 USD", "nights": None, "quote": "at most $5,000"},
            {"field": "first_day", "value": "2025-06-01", "nights": None, "quote": "in June 2025"},
            {"field": "stars", "value": "3-4", "nights": None, "quote": "3-4 star hotels"},
        ]
    },
    {"sentences": ["Dinner is at 6 pm at home.", "James lands at 1 pm at BOS and needs a ride."]},
]
REUNION_TEXTS = [
    "Dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Grandma needs a pick-up. "
    "Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30",
    "The turkey takes 4 hours and somebody must watch it. Emily arrives at Logan at 14:30. James can drive four people.",
]
