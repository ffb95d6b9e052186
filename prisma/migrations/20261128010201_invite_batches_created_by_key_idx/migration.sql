-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_batches_created_by_key_idx" ON "invite_batches" ("organization_id", "created_by_key_id");
