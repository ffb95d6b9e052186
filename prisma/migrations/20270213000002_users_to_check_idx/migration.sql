-- no-transaction
-- The few that the sweep looks at: those whose memberships have changed, and those that have none.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_to_check_idx" ON "users" ("id") WHERE "is_unchecked" OR "left_since" IS NOT NULL;
