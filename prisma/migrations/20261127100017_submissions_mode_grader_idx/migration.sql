-- no-transaction
-- Takes the place of submissions_grader_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_mode_grader_idx" ON "submissions" ("organization_id", "mode", "state", "grader_id", "submitted_at", "id");
