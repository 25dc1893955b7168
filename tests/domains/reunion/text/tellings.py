"""Tellings of whole days: the papers' own words, and a day as people tell it, none of which says all."""

from __future__ import annotations

from typing import Final

SAGALLM_THANKSGIVING: Final = """Objective: Coordinate family arrivals and dinner preparation for 6:00 PM dinner in Boston
Family Members and Arrivals:
- Sarah (Mom): Host, at home
- James (Dad): Lands at BOS 1:00 PM from SF
- Emily (Sister): Lands at BOS 2:30 PM from Chicago
- Michael (Bro): Driving, arrives 3:00 PM from NY
- Grandma: Needs pickup from suburban Boston
Cooking Requirements:
- Turkey: 4 hours cooking time
- Side dishes: 2 hours preparation
- Someone must stay home during cooking
Transportation Constraints:
- James must rent car after landing
- Emily requires airport pickup
- Travel times: Home to BOS Airport: 60 min, BOS Airport to Grandma's: 60 min, Home to Grandma's: 30 min
Key Requirements:
- All family members at home for 6:00 PM dinner
- Turkey and sides ready by dinner time
- All pickups completed with available drivers
- Cooking supervision maintained"""
THANKSGIVING_FACTS: Final = (
    "Dinner at 18:00 at home in Boston. Sarah (host) at home. James lands at BOS 13:00 from SF and must rent a car. Emily"
    " lands at BOS 14:30 and needs to be picked up (by family). Michael drives from New York, home at 15:00 with his car."
    " Grandma is at her house and must be picked up. Turkey 4 hours in the oven, somebody at home all that time (anybody);"
    " side dishes 2 hours of work; one person can do both at once. Common sense, to be offered: 30 minutes from landing to"
    " kerb; 30 minutes to rent a car. Soft: Grandma prefers Michael; Grandma and Sarah rather not cook together."
)
"""Without a word of how far it is."""
SAGALLM_WEDDING: Final = """Locations: Boston Airport (B), gift shop (G), tailor shop (T) and wedding venue (W).
Travel times (minutes): B-G 45, B-T 30, B-W 40, G-T 20, G-W 25, T-W 15.
Arrival times:
- Alex: at B at 11:00 AM from Chicago (need a ride)
- Jamie: at B at 12:30 PM from Atlanta (need a ride)
- Pat: at W at 12:00 PM driving from NYC (has 5-seater car)
Required tasks:
- Gift collection from G (after 12:00 PM)
- Clothes pickup from T (by 2:00 PM)
- Photos at W (3:00 PM)
Available resources:
- One car (5-seater) with Pat, available after he is in Boston
- Local friend Chris (5-seater) available after 1:30 PM at W
Scheduling constraints:
- All tasks must complete before 3:00 PM photo time
- Gift store opens at 12:00 PM
- Tailor closes at 2:00 PM
- Two cars must accommodate all transport needs"""
WEDDING_FACTS: Final = (
    "Airport B, gift shop G, tailor T, venue W. B-G 45, B-T 30, B-W 40, G-T 20, G-W 25, T-W 15 minutes. Alex at B from"
    " 11:00 and Jamie at B from 12:30 need rides; Pat at W from 12:00 with a five-seater; Chris at W from 13:30 with a"
    " five-seater. The gift from G (opens 12:00), the clothes from T (closes 14:00), everybody at W by 15:00."
)
SIX: Final = (
    "We are six: Anna, Ben, Carla, Dave, Eva and Grandpa Joe. Dinner is at 7 pm at home in Munich. Anna is at home with the"
    " dog, and somebody has to walk the dog for 30 minutes between 3 and 5. Ben lands at Munich airport at 2 pm. Carla lands"
    " at Memmingen airport at 3:30 pm. Dave has a car and is at home. Eva drives from Salzburg with her own car, leaving at"
    " 1 pm. Grandpa Joe is in Augsburg and needs a lift. The roast takes 3 hours in the oven and must not be left alone."
    " Someone has to pick up the cake from the bakery before 5 pm."
)
"""Six people, two airports, an oven, a cake and a dog."""
