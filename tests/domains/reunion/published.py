"""Plans that language models made, and others, as the papers print them, and what is wrong with each of them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.domains.reunion.plans import Json, plan_of, shipped, task, travel

PAT, CHRIS, MICHAEL, RENTAL = "Pat's car", "Chris's car", "Michael's car", "rental car"


@dataclass(frozen=True)
class Published:
    """`faults`: (code, index of the action) of all that is wrong; none where it is right."""

    problem: Json
    plan: Json
    faults: tuple[tuple[str, int | None], ...] = ()


SAGALLM_TABLE_5 = plan_of(
    travel(PAT, "Pat", "W-B", "12:00", "12:40"),
    travel(PAT, "Pat", "B-G", "12:50", "13:35", "Alex", "Jamie"),
    task("gift", "Pat", "13:35", "13:50"),
    travel(PAT, "Pat", "G-T", "13:50", "14:10", "Alex", "Jamie"),
    task("clothes", "Pat", "14:10", "14:25"),
    travel(PAT, "Pat", "T-W", "14:25", "14:40", "Alex", "Jamie"),
)
"""Claude 3.7: the tailor has closed at 14:00."""

BOTH_ERRANDS_BY_CHRIS = plan_of(
    travel(PAT, "Pat", "W-B", "12:00", "12:40"),
    travel(PAT, "Pat", "B-W", "12:40", "13:20", "Alex", "Jamie"),
    travel(CHRIS, "Chris", "W-T", "13:30", "13:45"),
    task("clothes", "Chris", "13:45", "13:50"),
    travel(CHRIS, "Chris", "T-G", "13:50", "14:10"),
    task("gift", "Chris", "14:10", "14:15"),
    travel(CHRIS, "Chris", "G-W", "14:15", "14:40"),
)
"""What SagaLLM observes to be better: 60 and 80 minutes."""

ALAS_TABLE_24 = plan_of(
    task("turkey", "Sarah", "10:00", "14:00"),
    task("rent a car", "James", "13:30", "14:00"),
    travel(RENTAL, "James", "BOS-HOME", "14:00", "15:00"),
    travel(MICHAEL, "Michael", "NY-HOME", "11:00", "15:00"),
    travel(MICHAEL, "Michael", "HOME-BOS", "15:15", "16:15"),
    travel(MICHAEL, "Michael", "BOS-HOME", "16:15", "17:00", "Emily"),
    travel(RENTAL, "James", "HOME-GRANDMA", "16:30", "17:00"),
    travel(RENTAL, "James", "GRANDMA-HOME", "17:00", "17:30", "Grandma"),
    task("side dishes", "Sarah", "15:30", "17:30"),
)
"""Claude: 45 minutes from the airport for 60."""

ALAS_TABLE_21 = plan_of(
    task("rent a car", "James", "13:30", "14:00"),
    travel(RENTAL, "James", "BOS-HOME", "15:00", "16:00", "Emily"),
    task("turkey", "Sarah", "14:00", "18:00"),
    travel(MICHAEL, "Michael", "NY-HOME", "11:00", "15:00"),
    travel(MICHAEL, "Michael", "HOME-GRANDMA", "15:00", "15:30"),
    travel(MICHAEL, "Michael", "GRANDMA-HOME", "15:30", "16:00", "Grandma"),
    task("side dishes", "Sarah", "16:00", "18:00"),
)
"""DeepSeek, at its second attempt. Sarah is at home, beside the turkey, all the time."""

PUBLISHED = {
    "SagaLLM table 5": Published(shipped("wedding"), SAGALLM_TABLE_5, (("WINDOW", 4),)),
    "SagaLLM, both errands by Chris": Published(shipped("wedding"), BOTH_ERRANDS_BY_CHRIS),
    "ALAS table 24": Published(shipped("thanksgiving"), ALAS_TABLE_24, (("TRAVEL_TIME", 5),)),
    "ALAS table 21": Published(shipped("thanksgiving"), ALAS_TABLE_21),
}
