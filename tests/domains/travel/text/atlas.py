"""Cities of five continents for the reading tests: names that are words, names that several cities share, long names."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.travel.cities import City, Gazetteer
from tests.domains.travel.world import CITIES

_MORE: Final = (
    # name, country, airport, time zone, latitude, longitude, thousands of people
    ("Portland", "United States", "PDX", "America/Los_Angeles", 45.6, -122.6, 652),
    ("Portland, Maine", "United States", "PWM", "America/New_York", 43.6, -70.3, 67),
    ("Birmingham", "United Kingdom", "BHX", "Europe/London", 52.5, -1.7, 1145),
    ("Birmingham, Alabama", "United States", "BHM", "America/Chicago", 33.6, -86.8, 200),
    ("Paris, Texas", "United States", "PRX", "America/Chicago", 33.6, -95.5, 25),
    ("London, Canada", "Canada", "YXU", "America/Toronto", 43.0, -81.2, 346),
    ("Reading", "United Kingdom", "RDG", "Europe/London", 51.5, -1.0, 174),
    ("Bath", "United Kingdom", "BRS", "Europe/London", 51.4, -2.4, 94),
    ("March", "United Kingdom", "CBG", "Europe/London", 52.6, 0.1, 22),
    ("Split", "Croatia", "SPU", "Europe/Zagreb", 43.5, 16.3, 149),
    ("Mobile", "United States", "MOB", "America/Chicago", 30.7, -88.2, 187),
    ("Most", "Czechia", "XXM", "Europe/Prague", 50.5, 13.6, 63),
    ("Best", "Netherlands", "EIN", "Europe/Amsterdam", 51.5, 5.4, 30),
    ("Goes", "Netherlands", "XXG", "Europe/Amsterdam", 51.5, 3.9, 27),
    ("Of", "Turkey", "TZX", "Europe/Istanbul", 40.9, 40.3, 43),
    ("Man", "Ivory Coast", "MJC", "Africa/Abidjan", 7.3, -7.6, 140),
    ("Male", "Maldives", "MLE", "Indian/Maldives", 4.2, 73.5, 134),
    ("Cork", "Ireland", "ORK", "Europe/Dublin", 51.8, -8.5, 190),
    ("Tours", "France", "TUF", "Europe/Paris", 47.4, 0.7, 137),
    ("Dublin", "Ireland", "DUB", "Europe/Dublin", 53.4, -6.3, 1024),
    ("Edinburgh", "United Kingdom", "EDI", "Europe/London", 55.9, -3.4, 506),
    ("Reykjavik", "Iceland", "KEF", "Atlantic/Reykjavik", 64.0, -22.6, 118),
    ("Copenhagen", "Denmark", "CPH", "Europe/Copenhagen", 55.6, 12.7, 1153),
    ("Stockholm", "Sweden", "ARN", "Europe/Stockholm", 59.7, 17.9, 1515),
    ("Warsaw", "Poland", "WAW", "Europe/Warsaw", 52.2, 21.0, 1702),
    ("Budapest", "Hungary", "BUD", "Europe/Budapest", 47.4, 19.3, 1741),
    ("Barcelona", "Spain", "BCN", "Europe/Madrid", 41.3, 2.1, 1620),
    ("Milan", "Italy", "MXP", "Europe/Rome", 45.6, 8.7, 1371),
    ("Florence", "Italy", "FLR", "Europe/Rome", 43.8, 11.2, 349),
    ("Venice", "Italy", "VCE", "Europe/Rome", 45.5, 12.4, 258),
    ("Athens", "Greece", "ATH", "Europe/Athens", 37.9, 23.9, 664),
    ("Istanbul", "Turkey", "IST", "Europe/Istanbul", 41.3, 28.7, 15702),
    ("Cairo", "Egypt", "CAI", "Africa/Cairo", 30.1, 31.4, 9606),
    ("Nairobi", "Kenya", "NBO", "Africa/Nairobi", -1.3, 36.9, 4397),
    ("Cape Town", "South Africa", "CPT", "Africa/Johannesburg", -34.0, 18.6, 4710),
    ("Dubai", "United Arab Emirates", "DXB", "Asia/Dubai", 25.3, 55.4, 3790),
    ("Delhi", "India", "DEL", "Asia/Kolkata", 28.6, 77.1, 11034),
    ("Mumbai", "India", "BOM", "Asia/Kolkata", 19.1, 72.9, 12691),
    ("Bangkok", "Thailand", "BKK", "Asia/Bangkok", 13.7, 100.7, 5104),
    ("Singapore", "Singapore", "SIN", "Asia/Singapore", 1.4, 104.0, 5638),
    ("Hong Kong", "China", "HKG", "Asia/Hong_Kong", 22.3, 113.9, 7491),
    ("Kyoto", "Japan", "KIX", "Asia/Tokyo", 34.4, 135.2, 1464),
    ("Sydney", "Australia", "SYD", "Australia/Sydney", -33.9, 151.2, 4840),
    ("Toronto", "Canada", "YYZ", "America/Toronto", 43.7, -79.6, 2732),
    ("Mexico City", "Mexico", "MEX", "America/Mexico_City", 19.4, -99.1, 12294),
    ("Lima", "Peru", "LIM", "America/Lima", -12.0, -77.1, 7737),
    ("Buenos Aires", "Argentina", "EZE", "America/Argentina/Buenos_Aires", -34.8, -58.5, 13076),
    ("Rio de Janeiro", "Brazil", "GIG", "America/Sao_Paulo", -22.8, -43.2, 6748),
    ("São Paulo", "Brazil", "GRU", "America/Sao_Paulo", -23.4, -46.5, 12400),
    ("Washington", "United States", "IAD", "America/New_York", 38.9, -77.5, 690),
    ("Miami", "United States", "MIA", "America/New_York", 25.8, -80.3, 442),
)
_LARGE: Final = {"Paris": 2139, "London": 8961}

ATLAS: Final = Gazetteer(
    (
        *(city.model_copy(update={"population": 1000 * _LARGE.get(city.name, 0) or None}) for city in CITIES),
        *(
            City(
                name=name,
                country=country,
                airport=airport,
                timezone=zone,
                latitude=latitude,
                longitude=longitude,
                population=1000 * thousands,
            )
            for name, country, airport, zone, latitude, longitude, thousands in _MORE
        ),
    )
)
