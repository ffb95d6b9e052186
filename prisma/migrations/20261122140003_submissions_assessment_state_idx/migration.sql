-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_assessment_state_idx" ON "submissions"("organization_id", "assessment_id", "state", "submitted_at", "id");
