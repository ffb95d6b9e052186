-- no-transaction
-- Parts of recipients' addresses, for a search.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_address_grams_idx" ON "invites" USING gin (address_grams("organization_id", "recipient_email"));
