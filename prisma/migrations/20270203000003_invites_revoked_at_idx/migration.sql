-- no-transaction
-- As invites_completed_at_idx: of those that were revoked or declined.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_revoked_at_idx" ON "invites"("organization_id", "mode", "revoked_at", "id") WHERE "status" = 'revoked';
