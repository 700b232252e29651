-- `call` is a StoredCall as JSON; the other columns are for searching. `outcome` is `ok` or a failure code.
CREATE TABLE calls (
  seq INTEGER PRIMARY KEY,
  call TEXT NOT NULL,
  serial TEXT NOT NULL UNIQUE AS (call ->> 'serial') STORED,
  time REAL NOT NULL AS (call ->> 'startedAt') STORED,
  tool TEXT NOT NULL AS (call ->> 'tool') STORED,
  server TEXT NOT NULL AS (call ->> 'source') STORED,
  origin TEXT NOT NULL AS (call ->> 'origin') STORED,
  caller TEXT AS (call ->> 'caller') STORED,
  outcome TEXT NOT NULL AS (coalesce(call ->> '$.result.code', 'ok')) STORED,
  trace_id TEXT AS (call ->> 'traceId') STORED
);
CREATE INDEX calls_by_time ON calls (time);
CREATE INDEX calls_by_tool ON calls (tool);
CREATE INDEX calls_by_caller ON calls (caller) WHERE caller IS NOT NULL;
CREATE INDEX calls_failed ON calls (seq) WHERE outcome <> 'ok';
CREATE VIRTUAL TABLE calls_text USING fts5(text, content='', contentless_delete=1);
CREATE TRIGGER calls_added AFTER INSERT ON calls BEGIN
  INSERT INTO calls_text (rowid, text) VALUES (new.seq, new.tool || ' ' || coalesce(new.call -> '$.args', '') || ' ' ||
    coalesce(new.call -> '$.result.error', new.call -> '$.result.result', ''));
END;
CREATE TRIGGER calls_removed AFTER DELETE ON calls BEGIN
  DELETE FROM calls_text WHERE rowid = old.seq;
END;
