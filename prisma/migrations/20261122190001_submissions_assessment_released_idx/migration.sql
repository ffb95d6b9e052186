-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_assessment_released_idx" ON "submissions"("organization_id", "assessment_id", "released_at", "id");
