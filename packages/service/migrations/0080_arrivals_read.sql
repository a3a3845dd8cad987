-- Gateways ask the cells in which a slot was before for what was booked there (decision 99).
grant select on cells.arrivals to purser_live;
