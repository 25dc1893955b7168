"""Words without meaning in a request for a trip: anything else that is left of a sentence was not understood."""

from __future__ import annotations

from typing import Final

from sagagraph.language.words import words

MEANINGLESS: Final = words(
    """
    about absolutely perfect lot much hang hold wait nah duh hiya far actually add after afternoon afterwards ah again ages
    all along also altogether and another any anything are around arrange arrival arrive arrives arriving ask away back
    based beautiful before between bit book booked booking both break btw budget but buy bye can carry check change changed
    choose cities city come coming correction cost costs could currency date dates day days dear depart departing departs
    departure do does doesn't don't dream drop each either end ending ends equally evening evenly every everybody everyone
    everything exactly explore exploring finally find first flexible flies flight flights flown fly flying following for
    from get getaway give glad goes going gonna good great had has have hello help her here hey hi him his holiday holidays
    home hm hmm honeymoon hotel hotels how i'd i'll i'm i've ideally include including instead into isn't it's itinerary its
    ive jaw journey just keep kind know land landing leave leaves leaving let let's like live lives living look looking love
    lovely madam make man matter matters may maybe mean meant might mind minimum money month more morning most must myself
    near need needs never new next nice nicely night nights nobody not nothing now off oh ok okay once one only onto onwards
    open other our out over pax people per perhaps plan planning please pls plus plz possible ppl prefer preferably
    preference price rather really remove replace respectively return returning returns romantic round said say seats see
    set shall share should sir skip she some something someone sometime soon sorry spend spending split start starting
    starts stay staying stays stop stopping stops suggest sunny sure swap take taking than thank thanks that that's that'll
    the their them then there there's they think thinking this those though through ticket tickets time times together too
    tops total tour tours train trains transport travel traveling travelling trip trips until vacation via visit visiting
    wanna want wanting wants was way we'd we'll we're well what what's whatever when where which while who whole why will
    wish with within without woman world would yes yeah yep you you're your
    """
)
