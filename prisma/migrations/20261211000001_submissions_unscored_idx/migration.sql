-- no-transaction
-- What was handed in and is not scored yet: hardly any at a time.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "submissions_unscored_idx" ON "submissions" ("id")
  WHERE "state" = 'submitted' AND "needs_people" IS NULL;
