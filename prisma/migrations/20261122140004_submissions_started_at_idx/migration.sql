-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_started_at_idx" ON "submissions"("organization_id", "started_at", "id");
