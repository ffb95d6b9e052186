-- no-transaction
-- The batches of keys that are under way, which are few: a request for another counts them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_batches_open_idx" ON "invite_batches" ("organization_id", "mode") WHERE "finished_at" IS NULL AND "stopped_at" IS NULL AND "created_by_key_id" IS NOT NULL;
