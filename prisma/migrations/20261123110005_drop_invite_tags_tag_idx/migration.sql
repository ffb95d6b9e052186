-- no-transaction
-- The indexes of the orders begin with the same columns.
DROP INDEX CONCURRENTLY IF EXISTS "invite_tags_tag_idx";
