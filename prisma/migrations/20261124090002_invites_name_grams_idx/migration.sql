-- no-transaction
-- Parts of recipients' names, for a search by name or address, in the way of "invites_address_grams_idx".
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_name_grams_idx" ON "invites" USING gin (address_grams("organization_id", "recipient_name"));
