-- What was wrong with a call that was refused as BAD_REQUEST, for its owner (CC-19): the field, and the message of the answer. Our own
-- words and names of fields: never a value that the caller sent, but the name of a model.

alter table traces.calls add column param text;
alter table traces.calls add column message text;
