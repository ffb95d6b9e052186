-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_released_idx" ON "submissions"("organization_id", "released_at", "id");
