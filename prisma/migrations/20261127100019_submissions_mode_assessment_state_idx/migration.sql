-- no-transaction
-- Takes the place of submissions_assessment_state_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_mode_assessment_state_idx" ON "submissions" ("organization_id", "mode", "assessment_id", "state", "submitted_at", "id");
