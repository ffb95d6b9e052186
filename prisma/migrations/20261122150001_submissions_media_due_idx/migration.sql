-- no-transaction
-- Whose media the sweep is to look at next.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_media_due_idx" ON "submissions" ("media_due_at")
  WHERE "media_due_at" IS NOT NULL;
