-- no-transaction
-- The portal's list of those that are archived, among however many others.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "assessments_archived_idx" ON "assessments" ("organization_id", "created_at", "id")
  WHERE "archived_at" IS NOT NULL;
