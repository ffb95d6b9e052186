-- no-transaction
-- Takes the place of submissions_released_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_mode_released_idx" ON "submissions" ("organization_id", "mode", "released_at", "id");
