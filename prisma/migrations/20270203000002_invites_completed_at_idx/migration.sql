-- no-transaction
-- What an organization keeps no longer is found in the order in which it ended; expired ones are by invites_status_expires_at_idx.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_completed_at_idx" ON "invites"("organization_id", "mode", "completed_at", "id") WHERE "status" = 'completed';
