-- no-transaction
-- Takes the place of submissions_started_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_mode_started_at_idx" ON "submissions" ("organization_id", "mode", "started_at", "id");
