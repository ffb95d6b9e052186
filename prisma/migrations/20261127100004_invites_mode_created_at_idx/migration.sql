-- no-transaction
-- Takes the place of invites_created_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_created_at_idx" ON "invites" ("organization_id", "mode", "created_at", "id");
