#![no_main]
recast_fuzz::target!(precision);
