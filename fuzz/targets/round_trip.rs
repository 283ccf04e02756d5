#![no_main]
recast_fuzz::target!(round_trip);
