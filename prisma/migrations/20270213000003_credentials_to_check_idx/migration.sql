-- no-transaction
-- The few that the sweep looks at: those whose memberships have changed, and those that have none.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "credentials_to_check_idx" ON "credentials" ("id") WHERE "is_unchecked" OR "left_since" IS NOT NULL;
