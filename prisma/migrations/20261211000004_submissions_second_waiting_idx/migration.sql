-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_second_grader_waiting_idx" ON "submissions" ("organization_id", "mode", "state", "second_grader_id", "submitted_at", "id")
  WHERE "needs_people" IS NOT FALSE;
