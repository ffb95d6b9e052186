-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "invites_address_idx";
