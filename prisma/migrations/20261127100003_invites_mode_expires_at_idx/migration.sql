-- no-transaction
-- Takes the place of invites_expires_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_expires_at_idx" ON "invites" ("organization_id", "mode", "expires_at", "id");
