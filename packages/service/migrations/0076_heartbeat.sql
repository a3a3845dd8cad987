-- How old a cell's copy of the directory is (decision 95). One small table: locks it for a moment.

-- The cell that has the directory writes its time here every few seconds, and the copies get it in order with everything else. Null: another cell.
alter table cells.cells add column beat_at timestamptz;
grant update (beat_at) on cells.cells to purser_live;
