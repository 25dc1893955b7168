"""What people write, and what is made of it. Every row is a test, and `docs/phrasings.md` is made of them.

python -m tests.domains.travel.text.phrasings    # writes the document again
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.completion import completed
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.partial import PartialRequest
from sagagraph.domains.travel.request import ANY_HOURS, By, Direct, Order
from sagagraph.domains.travel.text.reader import read_request

from .atlas import ATLAS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.request import TripRequest

TODAY: Final = date(2025, 3, 1)
_USUAL: Final = ("nobody else was mentioned", "a round trip", "two in each room", "two in each room, and a child beside them")
"""Reasons of what is assumed of nearly every request."""
DOCUMENT: Final = Path(__file__).parents[4] / "docs" / "phrasings.md"

Row = tuple[tuple[str, ...], str]
"""What is said, turn by turn, and what is understood after the last turn, or asked."""

TABLE: Final[dict[str, tuple[Row, ...]]] = {
    "Understood at once": (
        (
            ("9 days in Rome, Florence and Venice in June, from Berlin",),
            "Berlin → Rome 3 → Florence 3 → Venice 3 → Berlin; 2025-06-01 to 2025-06-30 (assumed: a part of the whole)",
        ),
        (
            ("My sister and her husband want to visit us in Berlin in June, they fly from London, 5 nights",),
            "London → Berlin 5 → London; 2025-06-01 to 2025-06-30; 2 people, rooms: 1 (assumed: those who were spoken of)",
        ),
        (
            ("Easter in Rome, Berlin to Rome 18-21 April",),
            "Berlin → Rome 3 → Berlin; 2025-04-18 to 2025-04-21 (assumed: from the dates)",
        ),
        (
            ("girls weekend in Lisbon, 6-8 June, from Berlin, 4 of us, 300 euros each",),
            "Berlin → Lisbon 2 → Berlin; 2025-06-06 to 2025-06-08; 4 people, rooms: 2; at most 1,200 EUR (assumed: from the dates) (not understood: girls weekend)",
        ),
        (
            ("Berlin to Lisbon, 3 nights, 5 June, nonstop please",),
            "Berlin → Lisbon 3 → Berlin; leaves 2025-06-05; direct flights preferred (assumed: where there is one)",
        ),
        (
            ("7 singers and the conductor, Berlin to Vienna, 2 nights, 5 June",),
            "Berlin → Vienna 2 → Berlin; leaves 2025-06-05; 8 people, rooms: 4",
        ),
        (
            ("me n 3 buddies, Boston to Miami, 3 nights, 5 June",),
            "Boston → Miami 3 → Boston; leaves 2025-06-05; 4 people, rooms: 2",
        ),
        (
            ("Berlin to Lisbon, 3 nights, 5 June, one double room and one single room, 3 people",),
            "Berlin → Lisbon 3 → Berlin; leaves 2025-06-05; 3 people, rooms: 2",
        ),
        (
            ("Berlin to Lisbon, 3 nights, 5 June, budget 900 euros, pay in Swiss francs",),
            "Berlin → Lisbon 3 → Berlin; leaves 2025-06-05; at most 900 EUR (not understood: pay in Swiss francs)",
        ),
        (
            ("Day trip Berlin to Cologne on 5 June, arrive before 11:00 and leave Cologne after 17:00",),
            "Berlin → Cologne 0 → Berlin; leaves 2025-06-05 (not understood: 11:00, 17:00)",
        ),
        (
            ("Lisbon or Madrid from Berlin... let's go with Madrid, 4 nights in June",),
            "Berlin → Madrid 4 → Berlin; 2025-06-01 to 2025-06-30",
        ),
        (
            ("3-7 June Paris, 7-10 June Lisbon, from London, for two",),
            "London → Paris 4 → Lisbon 3 → London; 2025-06-03 to 2025-06-10; 2 people, rooms: 1",
        ),
        (
            ("Boston to Paris for 3 nights in May, 2 people, $1,000/person",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1; at most $2,000",
        ),
        (
            ("Boston to Paris for 3 nights in May, nothing over $1,500",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; at most $1,500",
        ),
        (
            ("Boston to Paris for 3 nights in aprli, max 900e",),
            "Boston → Paris 3 → Boston; 2025-04-01 to 2025-04-30; at most 900 EUR",
        ),
        (("4 nights in Paris in June. From Berlin? No: from Vienna",), "Vienna → Paris 4 → Vienna; 2025-06-01 to 2025-06-30"),
        (
            ("my mum, dad and brother and I, London to Rome, 5 nights, 2 June",),
            "London → Rome 5 → London; leaves 2025-06-02; 4 people, rooms: 2",
        ),
        (
            ("Boston to Rome, stopping 2 nights in Paris on the way, 5 nights in Rome, August",),
            "Boston → Paris 2 → Rome 5 → Boston; 2025-08-01 to 2025-08-31",
        ),
        (("10 nights Paris & Rome from Boston in October, 6 in Paris",), "asks: How many nights in Paris: 10 or 6?"),
        (
            ("Rome to Paris and Cologne, 2 nights each, June; train only if it lands before noon, otherwise stay in Paris",),
            "Rome → Paris 2 → Cologne 2 → Rome; 2025-06-01 to 2025-06-30 "
            "(not understood: only if it lands before noon, otherwise stay in Paris)",
        ),
        (
            ("From Boston to Paris for 3 nights in May, under £3k",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; at most 3,000 GBP",
        ),
        (
            ("From London to Nairobi for a week in May for two, €2,500",),
            "London → Nairobi 7 → London; 2025-05-01 to 2025-05-31; 2 people, rooms: 1; at most 2,500 EUR",
        ),
        (("Dublin to Split, 5 nights, June",), "Dublin → Split 5 → Dublin; 2025-06-01 to 2025-06-30"),
        (
            ("We are four, London to Bath and Cork, 2 nights each, June 2025, 2 rooms",),
            "London → Bath 2 → Cork 2 → London; 2025-06-01 to 2025-06-30; 4 people, rooms: 2",
        ),
        (
            ("Fly into Paris and out of Rome, from Boston, 3 nights in each, 1-15 June",),
            "Boston → Paris 3 → Rome 3 → Boston; 2025-06-01 to 2025-06-15",
        ),
        (
            ("Open jaw: Boston to London (3 nights) then Paris (2 nights), fly back from Paris to New York, May",),
            "Boston → London 3 → Paris 2 → New York; 2025-05-01 to 2025-05-31",
        ),
        (
            ("Toronto > Lima > Buenos Aires > Rio de Janeiro > Toronto, 3 nights each, September",),
            "Toronto → Lima 3 → Buenos Aires 3 → Rio de Janeiro 3 → Toronto; 2025-09-01 to 2025-09-30",
        ),
        (
            (
                "Sydney to Singapore 2 nights, Bangkok 3 nights, Delhi 2 nights, Dubai 1 night, Istanbul 3 nights, London 4 nights, one way, 1 Sept to 30 Sept",
            ),
            "Sydney → Singapore 2 → Bangkok 3 → Delhi 2 → Dubai 1 → Istanbul 3 → London 4 → stay there; 2025-09-01 to 2025-09-30",
        ),
        (("A week in May in Lisbon from Berlin",), "Berlin → Lisbon 7 → Berlin; 2025-05-01 to 2025-05-31"),
        (
            ("a long weekend in Copenhagen from London in October for 2",),
            "London → Copenhagen 3 → London; 2025-10-01 to 2025-10-31; 2 people, rooms: 1",
        ),
        (("a fortnight in Cape Town from London, sept",), "London → Cape Town 14 → London; 2025-09-01 to 2025-09-30"),
        (
            ("From Portland, Maine to Paris for 4 nights in June",),
            "Portland, Maine → Paris 4 → Portland, Maine; 2025-06-01 to 2025-06-30",
        ),
        (("from Portland, OR to Paris, 4 nights, June",), "Portland → Paris 4 → Portland; 2025-06-01 to 2025-06-30"),
        (("Boston to Birmingham, England, 3 nights, June",), "Boston → Birmingham 3 → Boston; 2025-06-01 to 2025-06-30"),
        (("From Boston to Paris, Texas for 2 nights in June",), "Boston → Paris, Texas 2 → Boston; 2025-06-01 to 2025-06-30"),
        (
            ("from London, Canada to Paris France, 2 nights, 5 June",),
            "London, Canada → Paris 2 → London, Canada; leaves 2025-06-05",
        ),
        (("Nice to Reading, 2 nights, 5 June",), "Nice → Reading 2 → Nice; leaves 2025-06-05"),
        (
            ("From Nice to Reading and Bath, one night each, June, nice hotels please, reading on the train is best",),
            "Nice → Reading 1 → Bath 1 → Nice; 2025-06-01 to 2025-06-30 (not understood: reading on the train is best)",
        ),
        (
            ("From Madrid to Rome, Vienna and Prague, 2 nights each, in any order, June",),
            "Madrid → Rome 2 → Vienna 2 → Prague 2 → Madrid; 2025-06-01 to 2025-06-30; in any order",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights in whatever order works, 1-15 June",),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-01 to 2025-06-15; in any order",
        ),
        (
            ("From Berlin: London (2), Paris (2), Madrid (1). The order does not matter. July, 4 star hotels",),
            "Berlin → London 2 → Paris 2 → Madrid 1 → Berlin; 2025-07-01 to 2025-07-31; 4 stars; in any order",
        ),
        (("a man goes from Cork to Male for 5 nights in May",), "Cork → Male 5 → Cork; 2025-05-01 to 2025-05-31"),
        (
            ("Boston to Rome for 3 nights in May, not on a Sunday",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; not on sunday",
        ),
        (
            ("Boston to Rome for 3 nights in May, no flights on Fridays or Saturdays",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; not on friday, saturday",
        ),
        (
            ("Boston to Rome for 3 nights in May, weekdays only",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; not on saturday, sunday",
        ),
        (
            ("Boston to Rome for 3 nights in May, no travel at weekends",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; not on saturday, sunday",
        ),
        (
            ("Boston to Rome for 3 nights in May, no flights before 8am",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; leave 08:00 or later",
        ),
        (
            ("Boston to Rome for 3 nights in May, no flights before 9",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; leave 09:00 or later",
        ),
        (
            ("Boston to Rome for 3 nights in May, leaving after 10:30 and arriving before 10 pm",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; leave 10:30 or later; arrive 22:00 or earlier",
        ),
        (
            ("Boston to Rome for 3 nights in May, don't want to arrive after 22:00",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; arrive 22:00 or earlier",
        ),
        (
            ("Boston to Rome for 3 nights in May, be back home by 8 in the evening",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; arrive 20:00 or earlier",
        ),
        (
            ("Boston to Rome for 3 nights in May, land by midnight",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; arrive 23:59 or earlier",
        ),
        (("London to Rome this Friday for 2 nights",), "London → Rome 2 → London; leaves 2025-03-07"),
        (
            ("Two adults and a child want to see Budapest for 3 nights, starting from Warsaw on the 12th of June",),
            "Warsaw → Budapest 3 → Warsaw; leaves 2025-06-12; 3 people, rooms: 1",
        ),
        (
            ("my parents and I, Warsaw to Budapest, 3 nights, June 12",),
            "Warsaw → Budapest 3 → Warsaw; leaves 2025-06-12; 3 people, rooms: 2",
        ),
        (
            ("just the two of us, Warsaw to Budapest, 3 nights, June 12",),
            "Warsaw → Budapest 3 → Warsaw; leaves 2025-06-12; 2 people, rooms: 1",
        ),
        (
            ("party of 5 from Miami to Lima 6 nights in August three rooms",),
            "Miami → Lima 6 → Miami; 2025-08-01 to 2025-08-31; 5 people, rooms: 3",
        ),
        (
            ("me, my wife and our two kids: Miami to Lima, 6 nights, August",),
            "Miami → Lima 6 → Miami; 2025-08-01 to 2025-08-31; 4 people, rooms: 2",
        ),
        (
            ("Boston to Paris for 3 nights in May, 1000 pounds each, 3 people",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 3 people, rooms: 2; at most 3,000 GBP",
        ),
        (
            ("Boston, then on to Reykjavik for 2 nights, then on to London for 3 nights, returning to Boston, 1-20 June",),
            "Boston → Reykjavik 2 → London 3 → Boston; 2025-06-01 to 2025-06-20",
        ),
        (("SFO to CDG 7 nights 2025-06-03",), "San Francisco → Paris 7 → San Francisco; leaves 2025-06-03"),
        (
            ("New York to Mexico City for 5 nights, 20-28 October, 4 or 5 stars, nonstop only, at most $2,500 for both of us",),
            "New York → Mexico City 5 → New York; 2025-10-20 to 2025-10-28; 2 people, rooms: 1; at most $2,500; 4 to 5 stars; direct flights required",
        ),
        (
            ("from sao paulo to buenos aires 4 nights april R$9000",),
            "São Paulo → Buenos Aires 4 → São Paulo; 2025-04-01 to 2025-04-30; at most 9,000 BRL",
        ),
        (
            ("Boston to Paris for 3 nights in May with a pool and breakfast",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: pool, breakfast)",
        ),
        (
            ("Paris 3 nights, London 2 nights, Rome 4 nights, home is Chicago, flexible in September, business class",),
            "Chicago → Paris 3 → London 2 → Rome 4 → Chicago; 2025-09-01 to 2025-09-30 (not understood: business class)",
        ),
        (
            (
                "I'd like to go from Vienna to Prague for three nights. Leaving on Friday 6 June 2025. Two people, one room, 4 star hotel, under 600 euros.",
            ),
            "Vienna → Prague 3 → Vienna; leaves 2025-06-06; 2 people, rooms: 1; at most 600 EUR; 4 stars",
        ),
        (
            ("two couples from London to Paris, 3 nights from 5 May",),
            "London → Paris 3 → London; leaves 2025-05-05; 4 people, rooms: 2",
        ),
        (
            ("London to Paris 3 nights in May, nothing under 4 stars",),
            "London → Paris 3 → London; 2025-05-01 to 2025-05-31; 4 to 5 stars",
        ),
        (
            ("my parents (both 70) and I, London to Rome 5 nights, 2 June",),
            "London → Rome 5 → London; leaves 2025-06-02; 3 people, rooms: 2",
        ),
        (
            ("me, my husband and our 2 kids 8 and 11, London to Rome 5 nights on 2 June",),
            "London → Rome 5 → London; leaves 2025-06-02; 4 people, rooms: 2",
        ),
        (
            ("In June, from Chicago, Rome 3 nights & Athens 2 nights & back, 3,500 USD tops",),
            "Chicago → Rome 3 → Athens 2 → Chicago; 2025-06-01 to 2025-06-30; at most $3,500",
        ),
        (
            ("Boston to Paris, 3 nights, May 5; returning from Paris to New York",),
            "Boston → Paris 3 → New York; leaves 2025-05-05",
        ),
        (("one way Dublin to Sydney, 10 nights, 3 November 2025",), "Dublin → Sydney 10 → stay there; leaves 2025-11-03"),
        (
            ("me and two mates, Dublin to Prague, 3 nights, first week of October, 3 rooms, max €500 a head",),
            "Dublin → Prague 3 → Dublin; 2025-10-01 to 2025-10-07; 3 people, rooms: 3; at most 1,500 EUR",
        ),
        (
            ("Looking for a romantic weekend in Venice from London, mid-May, as a couple, 5 stars, money no object",),
            "London → Venice 2 → London; 2025-05-11 to 2025-05-20; 2 people, rooms: 1; 5 stars",
        ),
        (
            ("Seattle → Tokyo (5) → Kyoto (3) → Seattle; 2-20 April; direct if possible; never on a Saturday",),
            "Seattle → Tokyo 5 → Kyoto 3 → Seattle; 2025-04-02 to 2025-04-20; direct flights preferred; not on saturday",
        ),
        (
            ("Need to be in Berlin for two nights, coming from Vienna, 12 June, home by 14 June",),
            "Vienna → Berlin 2 → Vienna; leaves 2025-06-12; 2025-06-12 to 2025-06-14",
        ),
        (
            ("fly out of Madrid on the 3rd of June, come back on the 10th, Lisbon for 7 nights",),
            "Madrid → Lisbon 7 → Madrid; leaves 2025-06-03; 2025-06-03 to 2025-06-10",
        ),
        (
            ("Madrid to Lisbon June 3 - June 10, 7 nights, leave no earlier than 9:15 am and land no later than 9:45pm",),
            "Madrid → Lisbon 7 → Madrid; 2025-06-03 to 2025-06-10; leave 09:15 or later; arrive 21:45 or earlier",
        ),
        (
            ("Madrid to Lisbon in June for 4 nights, avoid Mondays and Fridays",),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30; not on monday, friday",
        ),
        (
            ("Madrid to Lisbon in June for 4 nights, I can't fly on Wednesdays",),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30; not on wednesday",
        ),
        (
            ("Madrid to Lisbon in June for 4 nights, Sundays are out",),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30; not on sunday",
        ),
        (
            ("from Delhi to Mumbai 3 nights, may, ₹60,000, two persons",),
            "Delhi → Mumbai 3 → Delhi; 2025-05-01 to 2025-05-31; 2 people, rooms: 1; at most 60,000 INR",
        ),
        (
            ("Mexico City – Lima – Buenos Aires – Mexico City, 4 nights each, 1 to 20 August, CA$6,000",),
            "Mexico City → Lima 4 → Buenos Aires 4 → Mexico City; 2025-08-01 to 2025-08-20; at most 6,000 CAD",
        ),
        (
            ("Nairobi to Cape Town return, 6 nights, August, ZAR 40 000",),
            "Nairobi → Cape Town 6 → Nairobi; 2025-08-01 to 2025-08-31; at most 40,000 ZAR",
        ),
        (
            (
                "First Rome for 3 nights, then Florence 2 nights, finally Venice 2 nights; depart from and return to Munich; September",
            ),
            "Munich → Rome 3 → Florence 2 → Venice 2 → Munich; 2025-09-01 to 2025-09-30",
        ),
        (
            ("Start in Berlin and end in Vienna: Prague 2 nights, Budapest 3 nights, 3-15 May",),
            "Berlin → Prague 2 → Budapest 3 → Vienna; 2025-05-03 to 2025-05-15",
        ),
        (
            ("São Paulo to Lisbon for a week, then Madrid for three nights and back to Rio, October",),
            "São Paulo → Lisbon 7 → Madrid 3 → Rio de Janeiro; 2025-10-01 to 2025-10-31",
        ),
        (
            ("4 nights Lisbon, 5 stars!!! from Berlin!!! June!!!",),
            "Berlin → Lisbon 4 → Berlin; 2025-06-01 to 2025-06-30; 5 stars",
        ),
        (
            ("from berlin to lisbon 4 nights june     (my dog comes along, vegan meals)",),
            "Berlin → Lisbon 4 → Berlin; 2025-06-01 to 2025-06-30 (not understood: dog comes, vegan meals)",
        ),
        (
            ("gonna need flights n hotel london to rome 3 nts may 2 ppl max 900 quid",),
            "London → Rome 3 → London; 2025-05-01 to 2025-05-31; 2 people, rooms: 1; at most 900 GBP",
        ),
        (
            ("Boston to Rome for 3 nights in May, not on Sundays or before 8am, and no more than 1,000 euros",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; at most 1,000 EUR; leave 08:00 or later; not on sunday",
        ),
        (
            ("LAX -> HNL, 6 nights, 2 adults 2 children, 2 rooms, Aug 3",),
            "Los Angeles → Honolulu 6 → Los Angeles; leaves 2025-08-03; 4 people, rooms: 2",
        ),
        (
            ("Return from Nairobi to Cape Town, 3 nights, 15 August, ZAR 40,000",),
            "Nairobi → Cape Town 3 → Nairobi; leaves 2025-08-15; at most 40,000 ZAR",
        ),
        (
            ("flights + hotels, Berlin–Lisbon–Madrid–Berlin, 3+2 nights, June",),
            "Berlin → Lisbon 3 → Madrid 2 → Berlin; 2025-06-01 to 2025-06-30",
        ),
        (
            ("Around the world: New York, London, Dubai, Singapore, Sydney, New York; 3 nights each; October",),
            "New York → London 3 → Dubai 3 → Singapore 3 → Sydney 3 → New York; 2025-10-01 to 2025-10-31",
        ),
        (
            ("Mumbai to Delhi, 4 nights, 2 couples, Dec 20 - Jan 2",),
            "Mumbai → Delhi 4 → Mumbai; 2025-12-20 to 2026-01-02; 4 people, rooms: 2",
        ),
        (("how about rome? from berlin, 3 nights in may",), "Berlin → Rome 3 → Berlin; 2025-05-01 to 2025-05-31"),
        (
            ("I want to start in Delhi, visit Bangkok for 3 nights and Singapore for 4 nights, ending in Sydney, March 2026",),
            "Delhi → Bangkok 3 → Singapore 4 → Sydney; 2026-03-01 to 2026-03-31",
        ),
        (("Paris for a weekend in June, return from Boston",), "Boston → Paris 2 → Boston; 2025-06-01 to 2025-06-30"),
        (
            ("I'm flying home from Vienna to Boston on 3 May for 10 nights",),
            "Vienna → Boston 10 → Vienna; leaves 2025-05-03",
        ),
        (
            ("Boston to Rome, 3 weeks from today, 4 nights, no hotel needed, staying with my sister",),
            "Boston → Rome 4 → Boston; leaves 2025-03-22 (not understood: sister)",
        ),
        (
            ("2 adults with two childs from Berlin to Paris, 1-5 August",),
            "Berlin → Paris 4 → Berlin; 2025-08-01 to 2025-08-05; 4 people, rooms: 2 (assumed: from the dates)",
        ),
    ),
    "Assumed, and shown": (
        (
            ("Berlin to Lisbon, 3 nights, 5 June, budget 900, pay in Swiss francs",),
            "Berlin → Lisbon 3 → Berlin; leaves 2025-06-05; at most 900 EUR (assumed: as used in Germany) (not understood: pay in Swiss francs)",
        ),
        (
            ("Business: Boston to Paris, arrive by 9 June, leave on 12 June",),
            "Boston → Paris 2 → Boston; 2025-06-09 to 2025-06-12 (assumed: from the dates, one night under way)",
        ),
        (
            ("Weekend for two in Paris, leaving Berlin on 6 June, back on 8 June",),
            "Berlin → Paris 2 → Berlin; leaves 2025-06-06; 2025-06-06 to 2025-06-08; 2 people, rooms: 1 (assumed: from the dates)",
        ),
        (
            ("London to Rome 02.06-07.06 for two",),
            "London → Rome 5 → London; 2025-06-02 to 2025-06-07; 2 people, rooms: 1 (assumed: from the dates)",
        ),
        (
            (
                "hi we're a family of five living in Chicago and would like to see Rome for 4 nights and Florence for 3 nights in July, budget 9 grand",
            ),
            "Chicago → Rome 4 → Florence 3 → Chicago; 2025-07-01 to 2025-07-31; 5 people, rooms: 3; at most $9,000 (assumed: as used in the United States)",
        ),
        (
            ("From Portland to Paris for 4 nights in June",),
            "Portland → Paris 4 → Portland; 2025-06-01 to 2025-06-30 (assumed: most likely Portland)",
        ),
        (
            ("London to Rome for 3 nights on 05/06",),
            "London → Rome 3 → London; leaves 2025-06-05 (assumed: figures in their likely order)",
        ),
        (
            ("London to Rome for 4 nights over Easter",),
            "London → Rome 4 → London; 2025-04-17 to 2025-04-22 (assumed: as long as the nights, Easter)",
        ),
        (
            ("London to Rome for 2 nights, Valentine's Day",),
            "London → Rome 2 → London; 2026-02-13 to 2026-02-15 (assumed: Valentine's day)",
        ),
        (("London to Rome for 4 nights in the summer",), "London → Rome 4 → London; 2025-06-01 to 2025-08-29 (assumed: Summer)"),
        (
            ("London to Rome for 4 nights at Christmas",),
            "London → Rome 4 → London; 2025-12-22 to 2025-12-28 (assumed: as long as the nights, Christmas)",
        ),
        (
            ("London to Rome next Friday for 2 nights",),
            "London → Rome 2 → London; leaves 2025-03-07 (assumed: the first such day)",
        ),
        (
            ("plz: boston-paris-boston, 12-19 june, 2 adults + 2 kids, 4* , budget eur 6000",),
            "Boston → Paris 6 → Boston; 2025-06-12 to 2025-06-19; 4 people, rooms: 2; at most 6,000 EUR; 4 stars (assumed: from the dates, one night under way)",
        ),
        (
            ("From Berlin to Parris for 3 nights in May",),
            "Berlin → Paris 3 → Berlin; 2025-05-01 to 2025-05-31 (assumed: read 'Parris' so)",
        ),
        (
            ("From São Paulo to Buenos Aires for 4 nights in April, R$ 9.000",),
            "São Paulo → Buenos Aires 4 → São Paulo; 2025-04-01 to 2025-04-30; at most 9,000 BRL (assumed: three digits are thousands)",
        ),
        (
            ("Madrid to Lisbon in June for 3 to 5 nights",),
            "Madrid → Lisbon 5 → Madrid; 2025-06-01 to 2025-06-30 (assumed: about as long as was said)",
        ),
        (
            ("Madrid to Lisbon in June for a few days",),
            "Madrid → Lisbon 3 → Madrid; 2025-06-01 to 2025-06-30 (assumed: about as long as was said)",
        ),
        (
            ("Madrid to Lisbon in June or July for 4 nights",),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-07-31 (assumed: in either of them)",
        ),
        (
            ("Madrid to Lisbon for 4 nights in June, between 500 and 800 euros",),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30; at most 800 EUR (assumed: the upper end)",
        ),
        (
            ("Madrid to Lisbon for 4 nights in June, 2.000 €",),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30; at most 2,000 EUR (assumed: three digits are thousands)",
        ),
        (
            ("Boston to Paris 3 nights", "may or june"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-06-30 (assumed: in either of them)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "leave on Friday"),
            "Boston → Paris 3 → Boston; leaves 2025-05-02; 2025-05-01 to 2025-05-31 (assumed: the first such day)",
        ),
        (
            ("London to Rome next Friday for 2 nights", "14"),
            "London → Rome 2 → London; leaves 2025-03-07 (assumed: the first such day) (not understood: 14)",
        ),
        (
            ("Madrid to Lisbon for 4 nights leaving between 3 and 6 June", "4"),
            "Madrid → Lisbon 4 → Madrid; 2025-06-03 to 2025-06-10 (assumed: any of these days) (not understood: 4)",
        ),
        (
            ("ten days in Tokyo and Kyoto from Singapore in November",),
            "Singapore → Tokyo 5 → Kyoto 5 → Singapore; 2025-11-01 to 2025-11-30 (assumed: a part of the whole)",
        ),
        (
            ("ten days in Tokyo and Kyoto from Singapore in November", "evenly"),
            "Singapore → Tokyo 5 → Kyoto 5 → Singapore; 2025-11-01 to 2025-11-30 (assumed: a part of the whole)",
        ),
        (
            ("ten days in Tokyo and Kyoto from Singapore in November", "6 in Tokyo"),
            "Singapore → Tokyo 6 → Kyoto 4 → Singapore; 2025-11-01 to 2025-11-30 (assumed: a part of the whole)",
        ),
        (
            ("ten days in Tokyo and Kyoto from Singapore in November", "6"),
            "Singapore → Tokyo 6 → Kyoto 4 → Singapore; 2025-11-01 to 2025-11-30 (assumed: a part of the whole)",
        ),
        (
            ("Madrid to Lisbon and Rome: 7 nights in total, June", "split evenly"),
            "Madrid → Lisbon 4 → Rome 3 → Madrid; 2025-06-01 to 2025-06-30 (assumed: a part of the whole)",
        ),
        (
            ("Madrid to Lisbon, 12 nights in late June", "8"),
            "Madrid → Lisbon 12 → Madrid; 2025-06-21 to 2025-07-03 (assumed: as long as the nights) (not understood: 8)",
        ),
        (
            ("In three weeks I want to go to Paris for 4 nights, flying from Berlin",),
            "Berlin → Paris 4 → Berlin; 2025-03-21 to 2025-03-27 (assumed: any of these days, around that day)",
        ),
        (
            ("Berlin to Paris, 4 nights, two months from now",),
            "Berlin → Paris 4 → Berlin; 2025-04-29 to 2025-05-05 (assumed: any of these days, around that day)",
        ),
        (
            ("Boston to Rome next Monday, and come back on Thursday",),
            "Boston → Rome 2 → Boston; leaves 2025-03-03; 2025-03-03 to 2025-03-06 (assumed: the first such day, from the dates, one night under way)",
        ),
    ),
    "Asked about": (
        (
            ("London to Rome for 4 nights, Easter 999999999999",),
            "asks: When do you want to travel: in which month, between which days, or leaving on which day? (not understood: Easter 999999999999)",
        ),
        (
            ("Berlin to Rome for 99999999999 nights, in May",),
            "asks: How many nights in Rome? (not understood: 99999999999)",
        ),
        (
            ("Berlin to Rome in May", "99999999999"),
            "asks: How many nights in Rome? (not understood: 99999999999)",
        ),
        (
            ("Berlin to Rome, 3 nights, back in two weeks",),
            "asks: When do you want to travel: in which month, between which days, or leaving on which day?",
        ),
        (
            ("Return flight from Manchester to Split, 5 nights, June",),
            "asks: No city called 'Manchester' is known. Which city do you mean?",
        ),
        (
            ("Boston to Rome for 3 nights in May, no arrivals after 9",),
            "asks: 'no arrivals after 9': at what hour do you want to leave at the earliest, and arrive at the latest?",
        ),
        (
            ("Boston to Rome for 3 nights in May at 9am",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: 9am)",
        ),
        (("Toronto to Rome for 3 nights on 05/06",), "asks: When do you want to travel? 05/06 can be 5 June or 6 May."),
        (
            ("Boston to Paris for 3 nights in May, 500 kr",),
            "asks: Which currency is meant by '500 kr': CZK or DKK or ISK or NOK or SEK?",
        ),
        (("Boston to Paris via Reykjavik, 3 nights in Paris, May",), "asks: How many nights in Reykjavik?"),
        (("Hello!",), "asks: Where does the trip start?"),
        (("Book me a cruise to Mars",), "asks: Where does the trip start? (not understood: cruise)"),
        (("take me somewhere warm in May",), "asks: Where does the trip start? (not understood: somewhere warm)"),
        (("Boston to Paris for 0 nights in May",), "Boston → Paris 0 → Boston; 2025-05-01 to 2025-05-31"),
        (
            ("Boston to Paris for 400 nights in May",),
            "asks: How many nights in Paris? What was said must be less than or equal to 365, not 400.",
        ),
        (("Boston to Boston for 3 nights in May",), "asks: Which cities do you want to visit, and in which order?"),
        (
            ("Lisbon to Paris, Rome, Berlin, Vienna, Prague, Munich, Madrid, 1 night each, June",),
            "asks: Which cities do you want to stay in? What was said has more than 6 of them.",
        ),
        (("I want to go to Paris",), "asks: Where does the trip start?"),
        (("A week in Rome in May", "add Lisbon for 2 nights"), "asks: Where does the trip start?"),
        (("Paris in May",), "asks: Where does the trip start?"),
        (("Madrid to Lisbon or Rome in June for 4 nights",), "asks: Lisbon or Rome. Which city do you mean?"),
        (
            ("Madrid to Lisbon for 4 nights starting 12.06.2025",),
            "Madrid → Lisbon 4 → Madrid; leaves 2025-06-12",
        ),
        (("Madrid to Lisbon for 4 nights, 31 June",), "asks: When do you want to travel? There is no 31 June 2025."),
        (("Madrid to Lisbon for 4 nights, 3 June 2024",), "asks: When do you want to travel? 3 June 2024 is in the past."),
        (
            ("Madrid to Lisbon for 4 nights in June, $100 per night",),
            "asks: '$100 per night' is for one night; what may the whole trip cost?",
        ),
        (("Madrid to Lisbon for 4 nights in June, ¥90,000",), "asks: Which currency is meant by '¥90,000': CNY or JPY?"),
        (
            ("Madrid to Lisbon for 4 nights in June, 6 star hotel",),
            "asks: Hotels have 1 to 5 stars; what do you mean by '6 star hotel'?",
        ),
        (("Madrid to Lisbon for 4 nights in June for us",), "asks: How many of you travel?"),
        (("trip to Japan from Sydney in May, 6 nights",), "asks: Japan is a country, with Tokyo, Kyoto. Which city do you mean?"),
        (
            ("Berlin, Cologne, Munich in June, 2 nights each",),
            "asks: Where does the trip start?",
        ),
        (
            ("between Vienna and Prague in May",),
            "asks: Where does the trip start?",
        ),
        (("New York City to Rio for Carnival week",), "asks: How many nights in Rio de Janeiro? (not understood: Carnival week)"),
        (
            ("Lima to Rio 3 nights then Buenos Aires 4 nights returning to Lima 10-25 Nov budget PEN 5000",),
            "asks: No rates are known for the currency of 'PEN 5000'; how much is it in another one, like USD?",
        ),
        (
            ("Boston to Paris, 3 nights in May, at most 600 zorkmids",),
            "asks: No rates are known for the currency of '600 zorkmids'; how much is it in another one, like USD?"
            " (not understood: zorkmids)",
        ),
    ),
    "Said bit by bit, and corrected": (
        (
            (
                "From Portland to Paris for 4 nights in June",
                "Maine",
            ),
            "Portland, Maine → Paris 4 → Portland, Maine; 2025-06-01 to 2025-06-30",
        ),
        (
            (
                "Boston to Birmingham, 3 nights, June",
                "the one in Alabama",
            ),
            "Boston → Birmingham, Alabama 3 → Boston; 2025-06-01 to 2025-06-30",
        ),
        (
            (
                "Boston to Rome for 3 nights in May, no early morning flights",
                "not before 7:30",
            ),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31; leave 07:30 or later",
        ),
        (
            (
                "Toronto to Rome for 3 nights on 05/06",
                "5 June",
            ),
            "Toronto → Rome 3 → Toronto; leaves 2025-06-05",
        ),
        (
            (
                "London to Rome for 4 nights over Easter",
                "17 to 23 April",
            ),
            "London → Rome 4 → London; 2025-04-17 to 2025-04-23",
        ),
        (
            (
                "from Berlin to Parris for 3 nights in May",
                "Paris",
            ),
            "Berlin → Paris 3 → Berlin; 2025-05-01 to 2025-05-31",
        ),
        (
            (
                "Boston to Paris and Rome in May, 3 nights each",
                "Madrid instead of Rome",
            ),
            "Boston → Paris 3 → Madrid 3 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            (
                "Boston to Paris and Rome in May, 3 nights each",
                "change Paris to Lisbon",
            ),
            "Boston → Lisbon 3 → Rome 3 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            (
                "Boston to Paris and Rome in May, 3 nights each",
                "skip Rome",
            ),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31",
        ),
        *(
            (("Boston to Paris and Rome in May, 3 nights each", said), "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31")
            for said in ("leave Rome out", "take Rome out of the trip")
        ),
        (
            (
                "Boston to Paris and Rome in May, 3 nights each",
                "add Madrid for 2 nights",
            ),
            "Boston → Paris 3 → Rome 3 → Madrid 2 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            (
                "Boston to Paris and Rome in May, 3 nights each",
                "2 nights in Rome",
                "not on Mondays",
                "no departures before 9am",
                "in June",
            ),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-01 to 2025-06-30; leave 09:00 or later; not on monday",
        ),
        (
            (
                "Boston to Paris and Rome in May, 3 nights each",
                "from New York",
            ),
            "New York → Paris 3 → Rome 3 → New York; 2025-05-01 to 2025-05-31",
        ),
        (
            (
                "I need a trip",
                "from Oslo",
                "Boston",
                "Paris",
                "3",
                "June",
                "2 people",
            ),
            "Boston → Paris 3 → Boston; 2025-06-01 to 2025-06-30; 2 people, rooms: 1",
        ),
        (
            (
                "Boston to Paris for 3 nights in May, 5000 kr",
                "SEK",
            ),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; at most 5,000 SEK",
        ),
        (
            (
                "Madrid to Lisbon, 12 nights in late June",
                "20 June to 5 July",
            ),
            "Madrid → Lisbon 12 → Madrid; 2025-06-20 to 2025-07-05",
        ),
        (
            (
                "Madrid to Lisbon, 4 nights, June, no red-eyes",
                "never mind",
            ),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30",
        ),
        (
            (
                "Madrid to Lisbon, 4 nights, June",
                "one way",
                "4 star hotels",
                "leaving 12 June",
            ),
            "Madrid → Lisbon 4 → stay there; leaves 2025-06-12; 2025-06-01 to 2025-06-30; 4 stars",
        ),
        (
            (
                "From Madrid to Rome and Vienna, 2 nights each, June",
                "the order is up to you",
            ),
            "Madrid → Rome 2 → Vienna 2 → Madrid; 2025-06-01 to 2025-06-30; in any order",
        ),
    ),
    "Changed from what was said before": (
        (
            ("Boston to Paris for 3 nights in May", "can we stay one night longer?"),
            "Boston → Paris 4 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (("Boston to Paris for 3 nights in May", "two nights less"), "Boston → Paris 1 → Boston; 2025-05-01 to 2025-05-31"),
        (
            ("Boston to Paris for 3 nights in May", "3 nights less"),
            "asks: '3 nights less' leaves no night in Paris: how many nights do you want to stay there?",
        ),
        (
            ("Boston to Paris for 3 nights in May", "extend the stay by two nights"),
            "Boston → Paris 5 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            ("Boston to Paris for 3 nights in May", "a week later"),
            "Boston → Paris 3 → Boston; 2025-05-08 to 2025-06-07",
        ),
        (
            ("Boston to Paris for 3 nights in May", "two more nights in Rome"),
            "asks: 2 nights in Rome: instead of Paris, or in addition (“add”)?",
        ),
        (
            ("Boston to Paris for 3 nights in May", "another night in Rome"),
            "Boston → Paris 3 → Rome 1 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            ("Boston to Paris for 3 nights in May", "one more person"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1",
        ),
        (
            ("Boston to Paris for 3 nights in May", "plus one"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1",
        ),
        (
            ("Boston to Paris for 3 nights in May", "another room"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 1 people, rooms: 2",
        ),
        (
            ("Boston to Paris for 3 nights in May", "one star more"),
            "asks: 'one star more' than what: how many stars do you want?",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "one night longer"),
            "asks: 'one night longer': where, in Paris or Rome?",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "two more nights in Rome"),
            "Boston → Paris 3 → Rome 4 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "one more night in each"),
            "Boston → Paris 4 → Rome 3 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "1 night in each"),
            "Boston → Paris 1 → Rome 1 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "a week later"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-08 to 2025-07-02",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "add 2 nights in Madrid"),
            "Boston → Paris 3 → Rome 2 → Madrid 2 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "one night longer", "Rome"),
            "Boston → Paris 3 → Rome 3 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "one night longer", "never mind"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "500 euros more"),
            "asks: '500 euros more': So far it is $3,000. What may the whole trip cost?",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "no more than $2500"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; at most $2,500",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "$4000 or more"),
            "asks: '$4000' is the least; what is the most that the whole trip may cost?",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "half the budget"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; at most $3,000 (not understood: half)",
        ),
        (
            ("Boston to Paris for 3 nights, 5 June, 2 people, 3 star hotels", "a week later"),
            "Boston → Paris 3 → Boston; leaves 2025-06-12; 2 people, rooms: 1; 3 stars",
        ),
        (
            ("Boston to Paris for 3 nights, 5 June, 2 people, 3 star hotels", "leave two days earlier"),
            "Boston → Paris 3 → Boston; leaves 2025-06-03; 2 people, rooms: 1; 3 stars",
        ),
        (
            ("Boston to Paris for 3 nights, 5 June, 2 people, 3 star hotels", "one more person"),
            "Boston → Paris 3 → Boston; leaves 2025-06-05; 3 people, rooms: 2; 3 stars",
        ),
        (
            ("Boston to Paris for 3 nights, 5 June, 2 people, 3 star hotels", "one person less"),
            "Boston → Paris 3 → Boston; leaves 2025-06-05; 3 stars",
        ),
    ),
    "One more city, or one of those that are there": (
        (
            ("Boston to Paris 3 nights and Rome 2 nights in May", "Paris is boring, replace it with Madrid"),
            "Boston → Madrid 3 → Rome 2 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (("Boston to Paris for 3 nights in May", "return via London"), "asks: How many nights in London?"),
        (("Boston to Paris for 3 nights in May", "via London"), "asks: London: instead of Paris, or in addition (“add”)?"),
        (("Boston to Paris for 3 nights in May", "Rome"), "asks: Rome: instead of Paris, or in addition (“add”)?"),
        (
            ("Boston to Paris for 3 nights in May", "2 nights in Rome instead"),
            "Boston → Rome 2 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            ("Boston to Paris for 3 nights in May", "what about a train from Paris to Rome?"),
            "asks: Rome: instead of Paris, or in addition (“add”)? (not understood: from Paris)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "leaving Paris after 10am"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; leave 10:00 or later (not understood: from Paris)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "not via London"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: without London)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "direct flights from Boston to Paris"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; direct flights preferred (assumed: where there is one)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "swap Boston and Paris"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: Boston and Paris)",
        ),
        (("Boston to Paris for 3 nights in May", "to Parris"), "asks: No city called 'Parris' is known; did you mean Paris?"),
        (("Boston to Paris for 3 nights in May", "Rome", "instead"), "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31"),
        (
            ("Boston to Paris for 3 nights in May", "2 nights in Rome", "add"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (("Boston to Paris for 3 nights in May", "Rome", "never mind"), "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31"),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "2 nights in Madrid", "instead of Rome"),
            "Boston → Paris 3 → Madrid 2 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "what about a train from Paris to Rome?"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-01 to 2025-06-25 (not understood: from Paris to Rome)",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "fly to Rome on 6 June"),
            "Boston → Paris 3 → Rome 2 → Boston; leaves 2025-06-06; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "Rome first, then Paris"),
            "Boston → Rome 2 → Paris 3 → Boston; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "Rome instead of Paris"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-01 to 2025-06-25 (not understood: Paris and Rome)",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "end in Rome"),
            "Boston → Paris 3 → Rome 2 → stay there; 2025-06-01 to 2025-06-25",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "3 nights in Rome instead"),
            "Boston → Paris 3 → Rome 3 → Boston; 2025-06-01 to 2025-06-25",
        ),
    ),
    "Answered in a word": (
        (("Boston to Paris 3 nights", "may"), "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31"),
        (("Boston to Paris 3 nights", "may please"), "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31"),
        (("Boston to Paris 3 nights", "march"), "Boston → Paris 3 → Boston; 2025-03-01 to 2025-03-31"),
        (
            ("Boston to Paris 3 nights", "I may come back"),
            "asks: When do you want to travel: in which month, between which days, or leaving on which day?",
        ),
        (
            ("Boston to Paris 3 nights", "12"),
            "asks: When do you want to travel: in which month, between which days, or leaving on which day? (not understood: 12)",
        ),
        (
            ("Madrid to Lisbon for 4 nights in June, 6 star hotel", "4"),
            "Madrid → Lisbon 4 → Madrid; 2025-06-01 to 2025-06-30; 4 stars",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights in May", "the hotel in Paris is too small, skip it"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-05-01 to 2025-05-31 (not understood: small)",
        ),
        (
            ("Boston to Paris 3 nights in May with my family", "5"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 5 people, rooms: 3",
        ),
    ),
    "Who comes along": (
        (
            ("Boston to Paris 3 nights in May, for 2 pls",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1",
        ),
        (
            ("Boston to Paris 3 nights in May, for two plz",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1",
        ),
        (("Boston to Paris 3 nights in May, with my family",), "asks: How many of you travel, all together?"),
        (
            ("Boston to Paris 3 nights in May, me and my wife",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1",
        ),
        (("Boston to Paris 3 nights in May, with my wife and kids",), "asks: How many of you travel, all together?"),
        (("Boston to Paris 3 nights in May, us two",), "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1"),
        (
            ("Boston to Paris 3 nights in May, with my parents",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 3 people, rooms: 2",
        ),
        (
            ("Boston to Paris 3 nights in May, family trip",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: family)",
        ),
        (
            ("Boston to Paris 3 nights in May, x2",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: 2)",
        ),
        (("Boston to Paris 3 nights in May, 2 adults and kids",), "asks: How many of you travel, all together?"),
    ),
    "Not wanted, or not understood": (
        (("Boston to Paris for 3 nights in May", "not in May"), "asks: When do you want to travel, if not in May?"),
        (("Boston to Paris for 3 nights in May", "June rather than May"), "Boston → Paris 3 → Boston; 2025-06-01 to 2025-06-30"),
        (("Boston to Paris for 3 nights in May", "not on 5 May"), "asks: When do you want to travel, if not on 5 May?"),
        (("Boston to Paris for 3 nights in May", "not 5 stars"), "asks: How many stars do you want, if not 5 stars?"),
        (("Boston to Paris for 3 nights in May", "return on Sunday"), "asks: Which date is meant by 'on Sunday'?"),
        (
            ("Boston to Paris for 3 nights in May", "no trains"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; by flight only",
        ),
        (
            ("Boston to Paris for 3 nights in May", "without hotel"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31",
        ),
        (
            ("Boston to Paris for 3 nights in May", "cheaper but at least 4 stars"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; 4 to 5 stars (not understood: cheaper)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "a nicer hotel please and not on a monday"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; not on monday (not understood: nicer)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "our hotel cancelled on us"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: cancelled)",
        ),
        (
            ("Boston to Paris 3 nights in May, train only",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; by train only",
        ),
        (
            ("Boston to Paris 3 nights in May, $2000 for flights",),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31; at most $2,000 (not understood: for flights)",
        ),
    ),
    "No longer read, because a click does it or it is assumed": (
        (("Boston to Paris for 3 nights in June", "not june, july"), "asks: When do you want to travel, if not june?"),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "could we squeeze in Madrid for a night between the two?"),
            "asks: 1 night in Madrid: instead of Paris or Rome, or in addition (“add”)? (not understood: two)",
        ),
        (
            (
                "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
                "4 stars in Cologne",
                "no wait, 3",
            ),
            "Boston → Berlin 4 → Cologne 2 → Boston; 2025-06-01 to 2025-06-30; at most $5,000; 3 to 4 stars (not understood: 3)",
        ),
        (
            (
                "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
                "for 2 people",
                "no, one is enough",
            ),
            "Boston → Berlin 4 → Cologne 2 → Boston; 2025-06-01 to 2025-06-30; 2 people, rooms: 1; at most $5,000; 3 to 4 stars (not understood: enough)",
        ),
        (
            (
                "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
                "5 nights in Berlin",
                "make it 6",
            ),
            "Boston → Berlin 5 → Cologne 2 → Boston; 2025-06-01 to 2025-06-30; at most $5,000; 3 to 4 stars (not understood: 6)",
        ),
        (
            (
                "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
                "2 star hotels",
                "actually 5",
            ),
            "Boston → Berlin 4 → Cologne 2 → Boston; 2025-06-01 to 2025-06-30; at most $5,000; 2 stars (not understood: 5)",
        ),
        (
            (
                "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
                "5 nights in Berlin",
                "hmm that doesn't fit, 4 is fine",
            ),
            "Boston → Berlin 5 → Cologne 2 → Boston; 2025-06-01 to 2025-06-30; at most $5,000; 3 to 4 stars (not understood: 4 is fine)",
        ),
        (
            ("Boston to Rome for 3 nights in May, no late arrivals", "not after 10"),
            "asks: 'not after 10': at what hour do you want to leave at the earliest, and arrive at the latest?",
        ),
        (
            (
                "Rome to Paris for 2 nights on 12 June, then the train to Cologne for 1 night only if the flight lands before noon",
            ),
            "Rome → Paris 2 → Cologne 1 → Rome; leaves 2025-06-12 (not understood: only if the flight lands before noon, then the train)",
        ),
        (
            ("Rome to Paris and Cologne, 2 nights each, June; take the train only if it lands before 3 pm, otherwise fly",),
            "Rome → Paris 2 → Cologne 2 → Rome; 2025-06-01 to 2025-06-30 (not understood: only if it lands before 3 pm, otherwise fly, take the train)",
        ),
        (
            ("Boston to Rome for 3 nights in May, only between 8am and 9pm",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: 8am, 9pm)",
        ),
        (
            ("Boston to Rome for 3 nights in May, depart between 9am and noon",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: 9am, noon)",
        ),
        (
            ("Boston to Rome for 3 nights in May, no red-eyes",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: red-eyes)",
        ),
        (
            (
                "Boston to Paris in May",
                "three nights",
                "make it four nights",
                "actually two people",
                "budget 2000 euros",
                "make it 2500",
            ),
            "Boston → Paris 4 → Boston; 2025-05-01 to 2025-05-31; 2 people, rooms: 1; at most 2,000 EUR (not understood: 2500)",
        ),
        (
            ("Madrid to Lisbon and Rome: 7 nights in total, June", "4 and 3"),
            "Madrid → Lisbon 4 → Rome 3 → Madrid; 2025-06-01 to 2025-06-30",
        ),
        (
            (
                "Madrid to Lisbon, 4 nights, June",
                "actually from Barcelona",
                "for 3 people",
                "5 nights",
                "under 900 euros",
                "make it 1,200",
                "direct only",
            ),
            "Barcelona → Lisbon 5 → Barcelona; 2025-06-01 to 2025-06-30; 3 people, rooms: 2; at most 900 EUR; direct flights required",
        ),
        (
            ("Boston to Paris for 3 nights in May", "come back a day later"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: later)",
        ),
        (
            ("Boston to Paris for 3 nights in May", "a month later"),
            "Boston → Paris 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: later)",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "one night longer in Paris and one less in Rome"),
            "Boston → Paris 4 → Rome 2 → Boston; 2025-06-01 to 2025-06-25 (not understood: less)",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "$500 more"),
            "asks: '$500 more': So far it is $3,000. What may the whole trip cost?",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "500 less"),
            "asks: '500 less': So far it is $3,000. What may the whole trip cost?",
        ),
        (
            ("Boston to Paris for 3 nights in May, under $3000", "raise the budget by $500"),
            "asks: 'raise the budget by $500': So far it is $3,000. What may the whole trip cost?",
        ),
        (
            ("Boston to Paris for 3 nights, 5 June, 2 people, 3 star hotels", "one star more"),
            "asks: 'one star more' than what: how many stars do you want?",
        ),
        (
            ("Boston to Paris for 3 nights, 5 June, 2 people, 3 star hotels", "six months earlier"),
            "Boston → Paris 3 → Boston; leaves 2025-06-05; 2 people, rooms: 1; 3 stars (not understood: six months earlier)",
        ),
        (
            (
                "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels",
                "keep Berlin but drop the other one",
            ),
            "Boston → Berlin 4 → Cologne 2 → Boston; 2025-06-01 to 2025-06-30; at most $5,000; 3 to 4 stars",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights, 1-25 June", "swap Paris and Rome"),
            "Boston → Paris 3 → Rome 2 → Boston; 2025-06-01 to 2025-06-25 (not understood: Paris and Rome)",
        ),
        (
            ("Boston to Paris 3 nights and Rome 2 nights in May", "remove one night from Paris and add it to Rome"),
            "asks: 'remove one night': where, in Paris or Rome? (not understood: from Paris to Rome)",
        ),
        (
            ("Boston to Rome for 3 nights in May, no early flights",),
            "Boston → Rome 3 → Boston; 2025-05-01 to 2025-05-31 (not understood: early)",
        ),
    ),
}
"""By title."""


def after(*turns: str) -> PartialRequest:
    """What is known when all of it has been said."""
    known: PartialRequest | None = None
    for turn in turns:
        known = read_request(turn, cities=ATLAS, today=TODAY, known=known)
    return known or PartialRequest()


def made_of(turns: tuple[str, ...]) -> str:
    """The first question, or the request with why it was assumed; and what was not understood in the last turn."""
    known = after(*turns)
    whole, assumed = completed(known, TODAY, is_far=ATLAS.takes_a_night)
    questions = whole.missing()
    if questions:
        answer = f"asks: {questions[0].text}"
    else:
        reasons = [why for why in dict.fromkeys(assumed.values()) if why not in _USUAL]
        answer = shown(whole.complete()) + (f" (assumed: {', '.join(reasons)})" if reasons else "")
    return f"{answer} (not understood: {', '.join(known.unread)})" if known.unread else answer


def shown(request: TripRequest) -> str:
    """In one line; what nobody said is left out."""
    places = [request.origin, *(f"{stop.city} {stop.nights}" for stop in request.stops), request.return_to or "stay there"]
    return "; ".join([" → ".join(places), *_parts(request)])


def _parts(request: TripRequest) -> Iterator[str]:
    if request.depart is not None:
        yield f"leaves {request.depart}"
    if request.window is not None:
        yield f"{request.window.first} to {request.window.last}"
    if request.travellers > 1 or request.rooms > 1:
        yield f"{request.travellers} people, rooms: {request.rooms}"
    if request.budget is not None:
        yield f"at most {money_text(request.budget, request.currency)}"
    if request.stars != (1, 5):
        fewest, most = request.stars
        yield f"{most} stars" if fewest == most else f"{fewest} to {most} stars"
    if request.by is not By.ANY:
        yield f"by {request.by} only"
    if request.direct is not Direct.ANY:
        yield f"direct flights {request.direct}"
    for verb, hours in (("leave", request.hours.depart), ("arrive", request.hours.arrive)):
        if hours != ANY_HOURS:
            earliest = f"{hours.earliest:%H:%M} or later" if hours.earliest else ""
            latest = f"{hours.latest:%H:%M} or earlier" if hours.latest else ""
            yield f"{verb} {' and '.join(filter(None, (earliest, latest)))}"
    if request.order is Order.ANY:
        yield "in any order"
    if request.not_on:
        yield f"not on {', '.join(request.not_on)}"
    if request.train_if is not None:
        to = f" to {request.train_if.to}" if request.train_if.to else ""
        yield f"a train{to} only if the flight lands before {request.train_if.landed_before:%H:%M}"


def document() -> str:
    """docs/phrasings.md"""
    rows = sum(map(len, TABLE.values()))
    lines = [
        "# What people write, and what is understood",
        "",
        f"{rows} ways to ask for a trip. This document is made of the table in `tests/domains/travel/text/phrasings.py`, which the",
        f"tests hold to be true (`python -m tests.domains.travel.text.phrasings` writes it). Today is {TODAY}; the cities are those of",
        "the tests. Numbers behind a city are nights. What nobody minds is assumed, and shown at its field with the reason; one traveller, a",
        "round trip and a room for two are not written out here (docs/adr/0032).",
    ]
    for title, table in TABLE.items():
        lines += ["", f"## {title}", "", "| said | understood, assumed or asked |", "|---|---|"]
        lines += [f"| {' ⏎ '.join(map(_cell, turns))} | {_cell(answer)} |" for turns, answer in table]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("$", "\\$").replace("*", "\\*").replace("<", "&lt;")


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
