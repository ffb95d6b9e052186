-- no-transaction
-- Takes the place of invite_tags_expires_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_tags_mode_expires_at_idx" ON "invite_tags" ("organization_id", "tag_id", "mode", "expires_at", "invite_id");
