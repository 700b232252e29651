-- `call` is a StoredCall as JSON; the other columns are for searching. `outcome` is `ok` or a failure code.
CREATE TABLE calls (seq INTEGER PRIMARY KEY, serial TEXT NOT NULL UNIQUE, time REAL NOT NULL, tool TEXT NOT NULL,
  server TEXT NOT NULL, origin TEXT NOT NULL, caller TEXT, outcome TEXT NOT NULL, trace_id TEXT, call TEXT NOT NULL);
CREATE INDEX calls_by_time ON calls (time);
CREATE INDEX calls_by_tool ON calls (tool);
CREATE INDEX calls_by_caller ON calls (caller) WHERE caller IS NOT NULL;
CREATE INDEX calls_failed ON calls (seq) WHERE outcome <> 'ok';
CREATE VIRTUAL TABLE calls_text USING fts5(text, content='', contentless_delete=1);
