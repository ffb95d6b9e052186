-- no-transaction
-- The invites that have a tag, in an order of their list.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_tags_expires_at_idx" ON "invite_tags"("organization_id", "tag_id", "expires_at", "invite_id");
