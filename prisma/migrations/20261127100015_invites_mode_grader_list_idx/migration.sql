-- no-transaction
-- Takes the place of invites_grader_list_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_grader_list_idx" ON "invites" ("organization_id", "mode", "assigned_grader_id", "status")
  INCLUDE ("id", "assessment_id", "sent_at", "expires_at", "created_at") WHERE "assigned_grader_id" IS NOT NULL;
