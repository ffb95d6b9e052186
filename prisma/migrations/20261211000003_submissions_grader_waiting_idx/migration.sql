-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_grader_waiting_idx" ON "submissions" ("organization_id", "mode", "state", "grader_id", "submitted_at", "id")
  WHERE "needs_people" IS NOT FALSE;
