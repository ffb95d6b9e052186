-- no-transaction
-- Takes the place of submissions_state_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_mode_state_idx" ON "submissions" ("organization_id", "mode", "state", "submitted_at", "id");
