-- no-transaction
-- Most papers have no such question: what has none is not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "paper_questions_version_idx" ON "paper_questions" ("organization_id", "version_id", "submission_id")
  WHERE "version_id" IS NOT NULL;
