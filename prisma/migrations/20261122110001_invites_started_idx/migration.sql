-- no-transaction
-- Invites that were started before submissions were kept, or by a process of the release before.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_started_idx" ON "invites" ("assessment_session") WHERE "status" = 'started';
