"""How quickly and how well reunions are planned and repaired, from 5 to 60 people."""
