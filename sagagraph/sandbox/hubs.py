"""Airports where people change.

General knowledge, not checked against statistics: well-known big airports, filled up so that every part of the world has some.
`True`: flights to other continents start here.
"""

from __future__ import annotations

HUBS: dict[str, bool] = {
    # North America
    "ATL": True, "DFW": True, "DEN": False, "ORD": True, "LAX": True, "JFK": True, "SFO": True, "MIA": True, "IAH": True,
    "SEA": False, "MSP": False, "YYZ": True, "YVR": True, "YUL": False, "MEX": True, "ANC": False, "HNL": False,
    # Middle and South America
    "PTY": True, "BOG": True, "LIM": False, "GRU": True, "EZE": True, "SCL": True, "BSB": False, "SJU": False,
    # Europe
    "LHR": True, "CDG": True, "AMS": True, "FRA": True, "MUC": True, "ZRH": True, "MAD": True, "IST": True, "SVO": True,
    "LIS": False, "CPH": False, "VIE": False, "HEL": False, "ATH": False, "DUB": False, "OSL": False, "FCO": False,
    # Africa
    "JNB": True, "ADD": True, "CAI": True, "NBO": True, "LOS": True, "CMN": True, "DKR": False, "ALG": False,
    # Middle East and South Asia
    "DXB": True, "DOH": True, "JED": False, "DEL": True, "BOM": True, "BLR": False, "CMB": False, "TAS": False,
    # East Asia
    "HND": True, "ICN": True, "PEK": True, "PVG": True, "CAN": True, "HKG": True, "TPE": False, "CTU": False, "URC": False,
    # South-east Asia and Oceania
    "SIN": True, "BKK": True, "KUL": True, "CGK": True, "MNL": False, "SGN": False,
    "SYD": True, "MEL": False, "PER": False, "BNE": False, "AKL": True, "NAN": False, "PPT": False,
}  # fmt: skip
