-- no-transaction
-- Takes the place of invite_tags_status_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_tags_mode_status_idx" ON "invite_tags" ("organization_id", "tag_id", "mode", "status", "invite_id");
