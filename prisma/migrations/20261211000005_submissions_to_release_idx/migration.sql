-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_to_release_idx" ON "submissions" ("organization_id", "mode", "submitted_at", "id")
  WHERE "state" = 'submitted' AND "needs_people" IS FALSE;
