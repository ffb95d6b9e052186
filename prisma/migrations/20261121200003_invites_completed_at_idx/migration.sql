-- no-transaction
-- How many candidates finished on each of the last days.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_completed_at_idx" ON "invites" ("organization_id", "completed_at")
  WHERE "completed_at" IS NOT NULL;
