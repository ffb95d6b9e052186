-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_started_at_idx" ON "invites"("organization_id", "mode", "started_at") WHERE "status" = 'started';
