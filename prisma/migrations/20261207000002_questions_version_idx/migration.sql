-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "questions_version_idx" ON "questions"("organization_id", "version_id");
