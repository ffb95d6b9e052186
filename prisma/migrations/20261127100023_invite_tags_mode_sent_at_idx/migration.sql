-- no-transaction
-- Takes the place of invite_tags_sent_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_tags_mode_sent_at_idx" ON "invite_tags" ("organization_id", "tag_id", "mode", "sent_at", "invite_id");
