"""What people say, and what it says: a row is a sentence and the facts in it."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.reunion.text.facts import (
    ApartFact,
    CompanyFact,
    Fact,
    GoalFact,
    HoursFact,
    ObjectiveFact,
    PersonFact,
    RoadFact,
    TaskFact,
    VehicleFact,
)


def at(hour: int, minute: int = 0) -> int:
    return hour * 60 + minute


PHRASINGS: Final[tuple[tuple[str, tuple[Fact, ...]], ...]] = (
    # the occasion, and where people have to be
    ("Thanksgiving dinner at 6 pm at home in Boston", (GoalFact((), "home in Boston", at(18), "Thanksgiving dinner"),)),
    ("Dinner is at 18:00 at home", (GoalFact((), "home", at(18), "Dinner"),)),
    ("The meal is at six", (GoalFact((), None, at(18), "meal"),)),
    ("The party starts at 7 pm in the town hall", (GoalFact((), "town hall", at(19), "party"),)),
    ("The wedding is at 3 p.m. at St Mary's church", (GoalFact((), "St Mary's church", at(15), "wedding"),)),
    ("We all meet at Grandma's house by noon", (GoalFact((), "Grandma's house", at(12)),)),
    ("Everybody must be at the church by 2.30 pm", (GoalFact((), "church", at(14, 30)),)),
    ("Everyone should be home by 6 pm", (GoalFact((), "home", at(18)),)),
    ("Alice must be at the station by 9 am", (PersonFact("Alice"), GoalFact(("Alice",), "station", at(9)))),
    ("Everyone has to be home by 6", (GoalFact((), "home", at(18)),)),
    # where people are, and from when
    ("James lands at 1 pm at BOS", (PersonFact("James", "BOS", at(13), lands=True),)),
    ("James flies in at 1 pm at BOS", (PersonFact("James", "BOS", at(13), lands=True),)),
    ("Emily's flight lands at 2:30 pm", (PersonFact("Emily", None, at(14, 30), lands=True),)),
    ("James arrives at the airport at 13:00", (PersonFact("James", "airport", at(13)),)),
    (
        "Alex and Jamie land at Logan at noon",
        (PersonFact("Alex", "Logan", at(12), lands=True), PersonFact("Jamie", "Logan", at(12), lands=True)),
    ),
    ("Emily lands at half past three at BOS", (PersonFact("Emily", "BOS", at(15, 30), lands=True),)),
    ("Bob waits at the station from a quarter to five", (PersonFact("Bob", "station", at(16, 45)),)),
    ("Emily lands at ten past three at BOS", (PersonFact("Emily", "BOS", at(15, 10), lands=True),)),
    ("Emily lands at twenty to five at BOS", (PersonFact("Emily", "BOS", at(16, 40), lands=True),)),
    ("Emily lands at 25 past 2 at BOS", (PersonFact("Emily", "BOS", at(14, 25), lands=True),)),
    ("Sarah (the host) is at home", (PersonFact("Sarah", "home"),)),
    ("Sarah is hosting at home", (PersonFact("Sarah", "home"),)),
    ("Bob waits at the station from 10 am", (PersonFact("Bob", "station", at(10)),)),
    ("Bob is available from 10:30", (PersonFact("Bob", None, at(10, 30)),)),
    ("Michael leaves New York at 11 o'clock", (PersonFact("Michael", "New York", at(11)),)),
    ("My sister Emily is at the hotel", (PersonFact("Emily", "hotel"),)),
    # rides
    ("Grandma needs a pick-up", (PersonFact("Grandma", drives=False, is_fetched=True),)),
    ("Grandma lives in Cambridge and needs a lift", (PersonFact("Grandma", "Cambridge"), PersonFact("Grandma", drives=False))),
    (
        "Grandma has to be collected from the care home by family",
        (PersonFact("Grandma", "care home", drives=False, is_fetched=True),),
    ),
    ("Someone must pick up Grandma at her house", (PersonFact("Grandma", "Grandma's house", drives=False),)),
    ("my mother is at her house and needs a ride", (PersonFact("Mother", "Mother's house"), PersonFact("Mother", drives=False))),
    ("Emily is at BOS. She needs a ride.", (PersonFact("Emily", "BOS"), PersonFact("Emily", drives=False))),
    ("Grandma would rather ride with Michael", (PersonFact("Grandma", prefers="Michael"),)),
    # who must not wait alone
    ("Emily should not wait alone", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Emily shouldn't have to wait alone at BOS", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Emily must never be left alone at the airport", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Emily must not wait by herself", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Emily hates waiting alone", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Emily needs company at the airport", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("I don't want Emily to wait alone", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Someone must wait with Emily at BOS", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Please make sure that Emily is not left alone", (PersonFact("Emily"), CompanyFact(("Emily",)))),
    ("Please don't leave Grandma alone at the airport", (PersonFact("Grandma"), CompanyFact(("Grandma",)))),
    (
        "Don't leave Emily and my grandma alone",
        (PersonFact("Emily"), PersonFact("Grandma"), CompanyFact(("Emily", "Grandma"))),
    ),
    (
        "Emily lands at 2:30 pm at BOS. She should not wait alone there.",
        (PersonFact("Emily", "BOS", at(14, 30), lands=True), PersonFact("Emily"), CompanyFact(("Emily",))),
    ),
    (
        "Emily is at BOS and needs a ride. Don't leave her alone!",
        (PersonFact("Emily", "BOS"), PersonFact("Emily", drives=False), PersonFact("Emily"), CompanyFact(("Emily",))),
    ),
    (
        "Emily needs a ride from BOS without waiting alone",
        (PersonFact("Emily", "BOS", drives=False), PersonFact("Emily"), CompanyFact(("Emily",))),
    ),
    (
        "Sarah and Grandma should not cook together",
        (PersonFact("Sarah"), PersonFact("Grandma"), ApartFact(("Sarah", "Grandma"))),
    ),
    ("Ann and Bob would rather not work side by side", (PersonFact("Ann"), PersonFact("Bob"), ApartFact(("Ann", "Bob")))),
    (
        "Ann and Bob may cook together after all",
        (PersonFact("Ann"), PersonFact("Bob"), ApartFact(("Ann", "Bob"), is_wanted=False)),
    ),
    ("Nobody should have to wait alone", (CompanyFact(),)),
    ("No one may be left alone at BOS", (CompanyFact(),)),
    ("Dinner is at 18:00 at home and nobody should wait alone", (GoalFact((), "home", at(18), "Dinner"), CompanyFact())),
    ("Emily may wait alone after all", (PersonFact("Emily"), CompanyFact(("Emily",), is_wanted=False))),
    ("Emily doesn't mind waiting alone", (PersonFact("Emily"), CompanyFact(("Emily",), is_wanted=False))),
    ("It is fine if Emily waits alone", (PersonFact("Emily"), CompanyFact(("Emily",), is_wanted=False))),
    # cars and who drives
    (
        "Michael drives from New York, leaving at 11",
        (
            PersonFact("Michael", "New York", drives=True),
            VehicleFact("Michael's car", "New York", drivers=("Michael",)),
            PersonFact("Michael", from_=at(11)),
        ),
    ),
    (
        "James lands at BOS at 13:00, rents a car there",
        (
            PersonFact("James", "BOS", at(13), lands=True),
            PersonFact("James", drives=True),
            VehicleFact("rental car", drivers=("James",)),
        ),
    ),
    (
        "Pat has a car with seven seats at the venue",
        (PersonFact("Pat", "venue", drives=True), VehicleFact("Pat's car", "venue", 7, ("Pat",))),
    ),
    (
        "Pat is at the venue from noon with a five-seater",
        (
            PersonFact("Pat", "venue", at(12)),
            PersonFact("Pat", drives=True),
            VehicleFact("Pat's car", None, 5, ("Pat",)),
        ),
    ),
    ("Pat drives a six-seater", (PersonFact("Pat", drives=True), VehicleFact("Pat's car", seats=6, drivers=("Pat",)))),
    ("Sarah can't drive", (PersonFact("Sarah", drives=False),)),
    ("taxi k1 waits at A and takes two passengers", (VehicleFact("k1", "A", drivers=()), VehicleFact("k1", seats=2))),
    (
        "Ann is renting a car at the airport",
        (PersonFact("Ann", drives=True), VehicleFact("rental car", "airport", drivers=("Ann",))),
    ),
    # what is to be done
    ("The turkey takes 4 hours in the oven", (TaskFact("turkey", minutes=240),)),
    (
        "Turkey takes 4 hours in the oven, someone must watch it",
        (TaskFact("Turkey", minutes=240), TaskFact("Turkey", watched=True)),
    ),
    (
        "The turkey must be in the oven for 4 hours and somebody has to be home",
        (TaskFact("turkey", minutes=240), TaskFact("turkey", watched=True)),
    ),
    ("Side dishes take an hour and a half of work", (TaskFact("Side dishes", minutes=90),)),
    ("Pick up the cake at the bakery before 4 pm", (TaskFact("cake", "bakery", closes=at(16), is_errand=True),)),
    (
        "The gift must be bought at the gift shop, it takes 10 minutes",
        (TaskFact("gift", "gift shop", is_errand=True), TaskFact("gift", minutes=10)),
    ),
    (
        "Chris picks up the flowers at the florist by 11",
        (TaskFact("flowers", "florist", closes=at(11), is_errand=True, who=("Chris",)),),
    ),
    ("Somebody has to walk the dog for 30 minutes between 3 and 5", (TaskFact("walk the dog", None, 30, at(15), at(17)),)),
    ("The roast must not be left alone", (TaskFact("roast", watched=True),)),
    ("Turkey: 4 hours cooking time", (TaskFact("Turkey", minutes=240),)),
    ("Gift collection from G (after 12:00 PM)", (TaskFact("Gift", "G", opens=at(12), is_errand=True),)),
    ("The tailor closes at 2 pm", (HoursFact("tailor", closes=at(14)),)),
    ("The gift shop opens at noon", (HoursFact("gift shop", opens=at(12)),)),
    ("Bob buys flowers at the market", (TaskFact("flowers", "market", is_errand=True, who=("Bob",)),)),
    # how far it is
    ("Home-BOS 60 minutes, BOS-Grandma 60", (RoadFact("Home", "BOS", 60), RoadFact("BOS", "Grandma", 60))),
    ("From home to the airport takes an hour", (RoadFact("home", "airport", 60),)),
    ("It takes 45 minutes from Boston Airport to the gift shop", (RoadFact("Boston Airport", "gift shop", 45),)),
    ("It's half an hour between Home and Grandma", (RoadFact("Home", "Grandma", 30),)),
    ("Home is 90 minutes from New York", (RoadFact("Home", "New York", 90),)),
    ("The drive from home to BOS takes 50 minutes", (RoadFact("home", "BOS", 50),)),
    ("Home to BOS: 1h30", (RoadFact("Home", "BOS", 90),)),
    ("A-B 10 km at 60 km/h", (RoadFact("A", "B", 10, 10),)),
    ("A to C are pairwise 10 minutes apart", (RoadFact("A", "B", 10), RoadFact("A", "C", 10), RoadFact("B", "C", 10))),
    ("it is 60 minutes from the airport to home", (RoadFact("airport", "home", 60),)),
    ("the drive from Augsburg is more like 50 minutes", (RoadFact("Augsburg", "", 50),)),
    ("As few kilometres as possible, please", (ObjectiveFact("distance"),)),
)

THANKSGIVING: Final = (
    "Thanksgiving dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Emily lands at 2:30 pm"
    " and needs a ride. Michael drives from New York, leaving at 11. Grandma needs a pick-up. Turkey takes 4 hours in the oven, someone"
    " must watch it; sides take 2 hours. Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30 minutes, New York-Home 4 hours,"
    " New York-BOS 4 hours."
)
WEDDING: Final = (
    "Wedding at 3 pm at the venue. Alex is at the airport from 11:00 and needs a ride. Jamie is at the airport from 12:30 and needs a"
    " ride. Pat is at the venue from noon with a five-seater. Chris is at the venue from 1:30 pm and has a five-seater. The gift must be"
    " picked up at the gift shop after noon and it takes 5 minutes. The clothes must be collected from the tailor before 14:00, it takes"
    " 5 minutes. Airport to gift shop 45 minutes, airport to tailor 30, airport to venue 40, gift shop to tailor 20, gift shop to venue"
    " 25, tailor to venue 15."
)
RIDE_SHARING: Final = (
    "r1 waits at A from 8 am and must be at G by 08:45. r2 waits at B from 8 am and must be at G by 08:50. r3, waiting at C from 8 am, to"
    " be at G by 8:55 am. r4 is at D from 08:00 and has to be at G by 9 am. Taxi k1 waits at A with 2 seats, taxi k2 is at C with two"
    " seats, taxi k3 at E with two seats. A to F are pairwise 10 km apart at 60 km/h. A-G 35 km at 100 km/h, B-G 33 km at 100 km/h, C-G 36"
    " km at 100 km/h, D-G 34 km at 100 km/h, E-G 32 km at 100 km/h, F-G 31 km at 100 km/h. As few kilometres as possible, please."
)
