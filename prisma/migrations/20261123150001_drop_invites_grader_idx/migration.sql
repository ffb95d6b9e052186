-- no-transaction
-- The index of the list of a grader has all of it.
DROP INDEX CONCURRENTLY IF EXISTS "invites_grader_idx";
