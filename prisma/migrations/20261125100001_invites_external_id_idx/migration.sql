-- no-transaction
-- The invites that have an id of the caller's, which are few of one id.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_external_id_idx" ON "invites" ("organization_id", "external_id", "id")
  WHERE "external_id" IS NOT NULL;
