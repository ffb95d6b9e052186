-- no-transaction
-- The primary key of the next release: rows can be distributed by it. The present one stays for the release before this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invite_emails_organization_id_key" ON "invite_emails"("organization_id", "id");
