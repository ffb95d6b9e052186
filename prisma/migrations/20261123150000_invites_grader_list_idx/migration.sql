-- no-transaction
-- What is assigned to one grader: how much of it is in each state now, and in which order it is listed, from the index alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_grader_list_idx" ON "invites" ("organization_id", "assigned_grader_id", "status")
  INCLUDE ("id", "assessment_id", "sent_at", "expires_at", "created_at") WHERE "assigned_grader_id" IS NOT NULL;
