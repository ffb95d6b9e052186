-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_second_grader_idx" ON "submissions"("organization_id", "state", "second_grader_id", "submitted_at", "id");
