-- no-transaction
-- In place of "takes_text_key", by which the release before this saves answers in words.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "takes_organization_text_key" ON "takes" ("organization_id", "submission_id", "question_number")
  WHERE "kind" = 'text';
