-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_grader_idx" ON "submissions"("organization_id", "state", "grader_id", "submitted_at", "id");
