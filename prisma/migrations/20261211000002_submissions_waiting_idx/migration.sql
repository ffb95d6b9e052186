-- no-transaction
-- The queues hold what people have to grade: however many need nobody, they cost these nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_waiting_idx" ON "submissions" ("organization_id", "mode", "state", "submitted_at", "id")
  WHERE "needs_people" IS NOT FALSE;
