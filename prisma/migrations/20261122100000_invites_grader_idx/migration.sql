-- no-transaction
-- What is assigned to one grader, and how much of it is in each state now: from the index alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_grader_idx" ON "invites" ("organization_id", "assigned_grader_id", "status")
  INCLUDE ("expires_at") WHERE "assigned_grader_id" IS NOT NULL;
