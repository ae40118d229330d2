-- A message has one entry for a flight (R12), but for one case: a day plan that was cut goes on after a late message or a
-- replay has given one of its mains another codeshare, and takes that away again. The main's MAFL is then told once more.

CREATE UNIQUE INDEX flight_journal_once
    ON flight_journal (msg_id, flid, (CASE kind WHEN 'SHARED' THEN state_version ELSE 0 END));
ALTER TABLE flight_journal DROP CONSTRAINT flight_journal_msg_id_flid_key;
