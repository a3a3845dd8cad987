-- What is due is read in the order in which it is claimed. Locks: none, settings of a function.
--
-- A connection that planned a claim while next to nothing was due went on to read all that is due, of every endpoint, for each of
-- them, and sorted it: with a thousand events due and fifty endpoints, fifty thousand rows for eight events. An index has them in
-- order, by endpoint, and its reading ends where an endpoint has its share: as long as a sort counts as dear, that is the plan.
-- What is due is read once more, to lock what was chosen.
--
-- Before version 18 the server adds a fortune for each sort that it cannot do without, and would compile so dear a statement.
alter function webhooks.claim set enable_sort = off set jit = off;
