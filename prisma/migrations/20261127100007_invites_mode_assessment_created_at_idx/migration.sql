-- no-transaction
-- Takes the place of invites_assessment_created_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_assessment_created_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "created_at", "id");
