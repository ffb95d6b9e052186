-- no-transaction
-- Takes the place of invites_status_expires_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_status_expires_at_idx" ON "invites" ("organization_id", "mode", "status", "expires_at", "id");
