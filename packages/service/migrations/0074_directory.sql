-- Where the directory of all cells is written (decision 95). One small table: locks it for a moment.

-- The public address of the cell that has the directory, where accounts, apps and the catalogue are changed. Null: this database has it.
alter table cells.own add column directory_url text;
