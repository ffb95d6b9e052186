-- no-transaction
-- Which submissions may have been left by their invites.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_in_progress_idx" ON "submissions" ("organization_id", "invite_id")
  WHERE "state" = 'in_progress';
