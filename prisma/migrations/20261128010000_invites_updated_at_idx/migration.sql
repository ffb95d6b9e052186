-- no-transaction
-- What has changed since a time.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_updated_at_idx" ON "invites" ("organization_id", "mode", "updated_at", "id");
