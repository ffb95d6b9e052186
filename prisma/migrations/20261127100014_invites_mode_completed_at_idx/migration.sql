-- no-transaction
-- Takes the place of invites_completed_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_completed_at_idx" ON "invites" ("organization_id", "mode", "completed_at")
  WHERE "completed_at" IS NOT NULL;
