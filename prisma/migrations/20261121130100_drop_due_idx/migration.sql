-- no-transaction
-- invites_next_due_idx has taken its place.
DROP INDEX CONCURRENTLY IF EXISTS "invites_due_idx";
